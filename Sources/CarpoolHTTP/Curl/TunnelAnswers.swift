/// Counts a proxy's answers to CONNECT. libcurl evaluates them, and repeats CONNECT without a maximum.
struct TunnelAnswers {
    /// A challenge, three that say that a nonce was too old, and the last one.
    private static let maximum = 5

    private var count = 0

    /// Whether there may be another line of an answer.
    mutating func accepts(_ line: UnsafeRawBufferPointer) -> Bool {
        if HeadReader.isStatusLine(line) { count += 1 }
        return count <= TunnelAnswers.maximum
    }
}
