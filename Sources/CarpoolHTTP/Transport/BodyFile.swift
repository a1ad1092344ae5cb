public import CarpoolSystem

/// An open file that several attempts may send.
public final class BodyFile {
    /// Open until ``close()``; jobs that read keep it open until they end.
    private(set) var file: WorkerFile?
    /// The worker that reads it; `nil` for files that never block, such as those in memory, which are read in place.
    let worker: WorkerAccess?
    /// The path with which other processes can open it; `nil` if there is none.
    public let path: String?
    /// The size when it was opened, if that is known.
    public let sizeBytes: Int64?

    /// Takes over a descriptor that can be read at any position (pread), and that never waits for a disk.
    public init(_ descriptor: consuming FileDescriptor, path: String? = nil, sizeBytes: Int64? = nil) {
        file = WorkerFile(descriptor, closer: nil)
        worker = nil
        self.path = path
        self.sizeBytes = sizeBytes
    }

    /// Takes over an open file that the worker reads.
    public init(_ file: WorkerFile, path: String? = nil, sizeBytes: Int64? = nil, worker: WorkerAccess?) {
        self.file = file
        self.worker = worker
        self.path = path
        self.sizeBytes = sizeBytes
    }

    /// The descriptor; -1 when it is closed.
    var raw: Int32 { file?.raw ?? -1 }

    /// The file for a job of the worker; `nil` if it needs none, or is closed.
    public var openFile: WorkerFile? { file }

    /// Closes the file, which cannot be sent any more. For a request that is kept after its body was sent.
    public func close() { file = nil }
}
