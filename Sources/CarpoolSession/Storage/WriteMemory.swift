/// The memory of all bytes that are on their way to files: how much they take together, and how much they may.
public final class WriteMemory {
    /// The most bytes of one file before its transfer waits.
    public var fileBytes: Int
    /// The most bytes of all files; beyond that each moves in small steps.
    public var totalBytes: Int
    /// How many bytes wait or are being written.
    public private(set) var heldBytes = 0

    /// What one file may hold even if all of them hold too much: with less it would not move.
    private static let leastBytes = 16_384

    /// Makes room for so much.
    public init(fileBytes: Int = 1_048_576, totalBytes: Int = 67_108_864) {
        self.fileBytes = fileBytes
        self.totalBytes = totalBytes
    }

    /// The bytes of a file at which its transfer waits.
    var limit: Int { heldBytes < totalBytes ? fileBytes : min(fileBytes, WriteMemory.leastBytes) }

    /// Notes that a file holds so many bytes more, or fewer.
    func change(by bytes: Int) { heldBytes &+= bytes }
}
