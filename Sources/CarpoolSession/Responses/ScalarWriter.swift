/// Makes a text of scalars, one after the other, without a copy on the way: a body of 16 MiB is decoded while everybody waits.
struct ScalarWriter {
    private let output: UnsafeMutableBufferPointer<UInt8>
    private var count = 0

    /// The text that the body writes, `nil` if it gives up.
    /// - Parameter maximumBytes: how many bytes of UTF-8 the text has at most; what would go beyond is dropped.
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

    /// Appends a scalar, which must be one, as UTF-8 (RFC 3629, section 3).
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
