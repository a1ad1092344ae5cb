/// The version; daemon and command are built from one source and report the same.
public enum Release {
    /// The version (https://semver.org).
    public static let version = "0.1.0"
}
