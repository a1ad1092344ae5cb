internal import CarpoolSystem
internal import Glibc

/// Standard output of the command, which all transfers share. As C's stdio, it keeps bytes until a block is full,
/// unless it is a terminal: a reader such as head(1), which closes the pipe after the first line, has a short response
/// by then.
final class CurlStandardOutput {
    private var kept: [UInt8] = []

    /// The bytes of a block.
    static let blockBytes = 4_096

    private(set) lazy var isTerminal = isatty(STDOUT_FILENO) == 1

    /// How many bytes wait for the rest of their block.
    var keptBytes: Int { kept.count }

    /// Whether so many more bytes are kept.
    func keeps(_ count: Int) -> Bool { kept.count + count < CurlStandardOutput.blockBytes && !isTerminal }

    /// Writes bytes, behind those that were kept.
    /// - Parameter isFlushed: whether they are written now, even if they fill no block.
    func write(_ bytes: [UInt8], isFlushed: Bool = false) throws(SystemError) {
        guard isFlushed || !keeps(bytes.count) else { return kept += bytes }
        guard !kept.isEmpty else { return try BlockingOutput(borrowing: STDOUT_FILENO).write(bytes) }
        kept += bytes
        try flush()
    }

    /// Writes the bytes that were kept. They are dropped if that fails.
    func flush() throws(SystemError) {
        guard !kept.isEmpty else { return }
        defer { kept = [] }
        try BlockingOutput(borrowing: STDOUT_FILENO).write(kept)
    }
}
