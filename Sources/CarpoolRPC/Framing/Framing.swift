/// The framing of the messages of a connection.
public enum Framing: Sendable {
    /// Not known before the first byte; responses are sent as lines.
    case undecided
    /// One JSON text per line; also JSON texts one after the other, or over several lines.
    case lines
    /// A header block with `Content-Length` before each message, as the Language Server Protocol has it.
    case contentLength
    /// RFC 7464: a record separator, 0x1E, before each message and a line feed after it.
    case jsonSequence

    /// The byte that starts a record in RFC 7464.
    static let recordSeparator: UInt8 = 0x1E

    /// Appends one message in this framing.
    public func frame(_ message: [UInt8], into output: inout [UInt8]) {
        message.withUnsafeBytes { frame($0, into: &output) }
    }

    /// Appends one message in this framing.
    public func frame(_ message: UnsafeRawBufferPointer, into output: inout [UInt8]) {
        begin(count: message.count, in: &output)
        output.append(contentsOf: message)
        if self != .contentLength { output.append(UInt8(ascii: "\n")) }
    }

    /// Appends one message that lies in two parts in this framing.
    public func frame(_ first: [UInt8], _ rest: UnsafeRawBufferPointer, into output: inout [UInt8]) {
        begin(count: first.count &+ rest.count, in: &output)
        output.append(contentsOf: first)
        output.append(contentsOf: rest)
        if self != .contentLength { output.append(UInt8(ascii: "\n")) }
    }

    private func begin(count: Int, in output: inout [UInt8]) {
        switch self {
        case .undecided, .lines: break
        case .contentLength: output.append(contentsOf: "Content-Length: \(count)\r\n\r\n".utf8)
        case .jsonSequence: output.append(Framing.recordSeparator)
        }
    }
}
