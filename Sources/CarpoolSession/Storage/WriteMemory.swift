/// The shared memory limit of all bytes that wait to be written to files.
public final class WriteMemory {
    /// The most bytes of one file before its transfer waits.
    public var fileBytes: Int
    /// The most bytes of all files; beyond that each moves in small steps.
    public var totalBytes: Int
    /// How many bytes wait or are being written.
    public private(set) var bufferedBytes = 0

    /// The bytes that one file may always hold, even over the common limit: with less it would not advance.
    private static let minimumBytes = 16_384

    /// Makes an account with these limits.
    public init(fileBytes: Int = 1_048_576, totalBytes: Int = 67_108_864) {
        self.fileBytes = fileBytes
        self.totalBytes = totalBytes
    }

    /// The buffered bytes of a file at which its transfer waits.
    var limit: Int { bufferedBytes < totalBytes ? fileBytes : min(fileBytes, WriteMemory.minimumBytes) }

    /// Adds the change of a file's buffered bytes.
    func change(by bytes: Int) { bufferedBytes &+= bytes }
}
