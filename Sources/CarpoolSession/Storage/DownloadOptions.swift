/// How the file of a download gets its name.
public struct DownloadOptions: Sendable {
    /// Whether an existing file is replaced, in one step; otherwise the download fails.
    public var removesPreviousFile = false
    /// Whether a file that is replaced keeps its mode, owner and attributes, or is written in place.
    public var keepsAttributes = false
    /// Whether missing directories are created, with mode 0777 less the umask.
    public var createsIntermediateDirectories = false
    /// The umask for the file's mode, 0666.
    public var umask: UInt32 = 0o022

    /// Makes options with all defaults.
    public init() {}
}
