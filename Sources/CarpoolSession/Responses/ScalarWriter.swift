/// Builds a text from scalars without intermediate copies: a body of 16 MiB may be decoded on the loop.
struct ScalarWriter {
    private let output: UnsafeMutableBufferPointer<UInt8>
    private var count = 0

    /// Returns the text that the body writes, `nil` if it returns `false`.
    /// - Parameter maximumBytes: the most bytes of UTF-8; what exceeds them is dropped.
    static func text(maximumBytes: Int, _ body: (inout ScalarWriter) -> Bool) -> String? {
        var isComplete = false
        let text = String(unsafeUninitializedCapacity: maximumBytes) { output in
            var writer = ScalarWriter(output: output)
            isComplete = body(&writer)
            return isComplete ? writer.count : 0
        }
        return isComplete ? text : nil
    }

    private init(output: UnsafeMutableBufferPointer<UInt8>) { self.output = output }

    /// Appends a valid scalar as UTF-8 (RFC 3629, section 3).
    mutating func append(_ scalar: UInt32) {
        switch scalar {
        case ..<0x80: append(byte: scalar)
        case ..<0x800:
            append(byte: 0xC0 | scalar >> 6)
            append(byte: 0x80 | scalar & 0x3F)
        case ..<0x10000:
            append(byte: 0xE0 | scalar >> 12)
            append(byte: 0x80 | scalar >> 6 & 0x3F)
            append(byte: 0x80 | scalar & 0x3F)
        default:
            append(byte: 0xF0 | scalar >> 18)
            append(byte: 0x80 | scalar >> 12 & 0x3F)
            append(byte: 0x80 | scalar >> 6 & 0x3F)
            append(byte: 0x80 | scalar & 0x3F)
        }
    }

    private mutating func append(byte: UInt32) {
        guard count < output.count else { return }
        output[count] = UInt8(truncatingIfNeeded: byte)
        count &+= 1
    }
}
