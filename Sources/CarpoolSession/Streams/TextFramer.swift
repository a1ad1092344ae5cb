/// Returns text as it arrives: UTF-8 that is never cut inside a character. Invalid bytes become U+FFFD, the same ones
/// wherever the pieces are cut.
struct TextFramer: StreamFramer {
    private let limit: Int
    /// The bytes of an incomplete character.
    private var pending: [UInt8] = []

    init(limit: Int) { self.limit = limit }

    var unfinishedBytes: Int { pending.count }

    mutating func take(_ bytes: UnsafeRawBufferPointer, room: Int) -> (taken: Int, record: StreamRecord?) {
        // Pending bytes count too; but a character that is larger than the room would never be delivered.
        var count = min(bytes.count, max(1, room &- pending.count), limit)
        while count > 0 {
            var joined = pending
            joined.append(contentsOf: bytes[..<count])
            let end = TextFramer.boundary(in: joined)
            let text = String(decoding: joined[..<end], as: UTF8.self)
            // Escaped characters take up to six times their size; a shorter piece surely fits.
            if text.encodedBytes > limit, count > 1 {
                count /= 2
                continue
            }
            pending = Array(joined[end...])
            return (count, end > 0 ? StreamRecord(.text(text), sizeBytes: end) : nil)
        }
        return (0, nil)
    }

    mutating func finish() -> StreamRecord? {
        guard !pending.isEmpty else { return nil }
        defer { pending = [] }
        return StreamRecord(.text(String(decoding: pending, as: UTF8.self)), sizeBytes: pending.count)
    }

    /// The index of an incomplete character, or the end. Cutting before a leading byte changes nothing for invalid
    /// bytes: each of them starts a new sequence (RFC 3629, section 3).
    private static func boundary(in bytes: [UInt8]) -> Int {
        for back in 1..<4 where back <= bytes.count {
            let byte = bytes[bytes.count &- back]
            let length =
                switch byte {
                case 0xF0...0xF7: 4
                case 0xE0...0xEF: 3
                case 0xC0...0xDF: 2
                case 0x80...0xBF: 0
                default: 1
                }
            if length == 0 { continue }
            return length > back ? bytes.count &- back : bytes.count
        }
        return bytes.count
    }
}
