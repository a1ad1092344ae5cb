/// Which Carpool this is; daemon and command come from one source and say the same.
public enum Release {
    /// The version (https://semver.org).
    public static let version = "0.1.0"
}
