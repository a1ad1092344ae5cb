/// The answers of proxies to CONNECT. libcurl evaluates them, and repeats CONNECT without a maximum.
struct TunnelAnswers {
    /// A challenge, three that say that a nonce was too old, and the last one.
    private static let maximum = 5
    /// The most bytes of lines that are kept; of longer answers none is.
    private static let maximumBytes = 16_384

    /// The number of answers.
    private(set) var count = 0
    private var isTooLong = false
    /// The lines of all answers, as they were received.
    private(set) var bytes: [UInt8] = []

    /// Takes a line of an answer. Returns whether there may be such a line.
    mutating func accepts(_ line: UnsafeRawBufferPointer) -> Bool {
        if HeadReader.isStatusLine(line) { count += 1 }
        guard count <= TunnelAnswers.maximum else { return false }
        isTooLong = isTooLong || line.count > TunnelAnswers.maximumBytes &- bytes.count
        if isTooLong { bytes = [] } else { bytes.append(contentsOf: line) }
        return true
    }
}
