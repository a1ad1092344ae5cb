/// The body of a request.
public enum RequestBody {
    /// No body, and no `Content-Length` unless the method requires one (RFC 9110, section 8.6).
    case none
    /// Bytes in memory.
    case bytes([UInt8])
    /// A range of an open regular file. The file is kept open until the transfer ends.
    case file(BodyFile, offset: Int64, length: Int64)
    /// The bytes of a source, which serves one transfer at a time.
    case source(any BodySource)
}

extension RequestBody {
    /// The number of bytes to send; `nil` if unknown.
    public var lengthBytes: Int64? {
        switch self {
        case .none: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .file(_, _, let length): length
        case .source(let source): source.lengthBytes
        }
    }
}
