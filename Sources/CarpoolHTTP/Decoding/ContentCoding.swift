internal import CarpoolSystem

/// The content codings (RFC 9110, section 8.4.1) that can be decoded.
public enum ContentCoding: String, Sendable {
    /// RFC 1952.
    case gzip
    /// The zlib format (RFC 1950); a bare deflate stream (RFC 1951) too, which some servers send.
    case deflate
    /// RFC 7932.
    case brotli = "br"
    /// RFC 8878.
    case zstd

    /// The coding of a token; `nil` if it is not known.
    init?(_ token: String) {
        switch token {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "br": self = .brotli
        case "zstd": self = .zstd
        default: return nil
        }
    }

    /// Maximum number of codings of a body: each is another buffer, and another factor of a decompression bomb. A body
    /// with more is passed on undecoded.
    public static let maximumCount = 4

    /// Maximum number of bytes of the fields that name the codings. A body with more is passed on undecoded: an origin
    /// may send a head of 300,000 bytes, and over HTTP/2 a hundred of them in a few kilobytes.
    private static let maximumBytes = 1_024

    /// The codings of a body in the order in which they were applied; `nil` if there is none, or an unknown one: then
    /// the body is passed on undecoded.
    static func decodable(in head: ResponseHead) -> [ContentCoding]? {
        guard let tokens = tokens(in: head.fields), !tokens.isEmpty else { return nil }
        let codings = tokens.compactMap { ContentCoding($0) }
        return codings.count == tokens.count && codings.allSatisfy(\.isAvailable) ? codings : nil
    }

    /// Why a body was not decoded.
    public enum Obstacle: Equatable, Sendable {
        /// One of its codings, which are listed, is unknown.
        case unknown(String)
        /// It has more than ``ContentCoding/maximumCount`` codings, or their names are too long.
        case tooMany
    }

    /// Why a body was not decoded; `nil` if it was, or has no coding.
    public static func obstacle(in head: ResponseHead) -> Obstacle? {
        guard let tokens = tokens(in: head.fields) else { return .tooMany }
        guard !tokens.isEmpty, decodable(in: head) == nil else { return nil }
        return .unknown(tokens.joined(separator: ", "))
    }

    /// The tokens of all `Content-Encoding` fields in lower case, without `identity`; `nil` if there are more than
    /// ``maximumCount``, or more than ``maximumBytes``.
    static func tokens(in fields: FieldBlock) -> [String]? {
        var tokens: [String] = []
        var bytesLeft = maximumBytes
        fields.forEach("content-encoding") { value in
            bytesLeft -= value.count
            guard bytesLeft >= 0 else { return false }
            add(value, to: &tokens)
            return tokens.count <= maximumCount
        }
        return bytesLeft < 0 || tokens.count > maximumCount ? nil : tokens
    }

    private static func add(_ value: UnsafeRawBufferPointer, to tokens: inout [String]) {
        var rest = value[...]
        while !rest.isEmpty, tokens.count <= maximumCount {
            let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
            let token = rest[..<end].drop(while: isBlank).prefix { !isBlank($0) }
            rest = end == rest.endIndex ? rest[end...] : rest[(end + 1)...]
            let bytes = UnsafeRawBufferPointer(rebasing: token)
            guard !bytes.isEmpty, !FieldName.matches(bytes, "identity") else { continue }
            tokens.append(FieldText.text(of: bytes).lowercased())
        }
    }

    static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private var isAvailable: Bool {
        switch self {
        case .gzip, .deflate: true
        case .brotli: Codec.hasBrotli
        case .zstd: Codec.hasZstandard
        }
    }
}
