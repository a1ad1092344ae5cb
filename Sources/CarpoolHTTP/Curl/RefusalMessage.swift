/// libcurl's debug message for a stream that the server has refused, so that its request was not processed (RFC 9113,
/// section 8.7). libcurl then sends the request again, and only this message shows that it may.
///
/// If a later version words it otherwise, such a request fails instead of being repeated: that is the safe side.
enum RefusalMessage {
    private static let opening = Array("[HTTP/2] [".utf8)
    /// The whole message for a stream with the error HTTP_1_1_REQUIRED (RFC 9113, section 7): the server has not used
    /// the request, and libcurl sends it again over HTTP/1.1.
    private static let downgrade = Array("Downgrades to HTTP/1.1\n".utf8)
    private static let closing = Array("] REFUSED_STREAM".utf8)

    /// Whether a message reads `[HTTP/2] [21] REFUSED_STREAM, ...`, with any stream's number. Names and values from
    /// the wire come after other words, so that no server can write this.
    static func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        guard !text.elementsEqual(downgrade) else { return true }
        guard text.starts(with: opening) else { return false }
        let number = text[opening.count...].prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        return !number.isEmpty && text[number.endIndex...].starts(with: closing)
    }
}
