/// A ``RegularFile`` on its way from the thread that opened it to the loop.
public struct NamedFile: Sendable {
    /// Open for reading.
    public let file: WorkerFile
    /// The path without symbolic links.
    public let path: String
    /// Its size in bytes when it was opened.
    public let size: Int64

    /// Opens a file; for a thread of a ``Worker``.
    public static func open(_ path: String, closer: WorkerFile.Closer?) throws(RegularFile.Failure) -> NamedFile {
        let opened = try RegularFile.open(path)
        let (path, size) = (opened.path, opened.size)
        return NamedFile(file: WorkerFile(opened.takeDescriptor(), closer: closer), path: path, size: size)
    }
}
