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

    /// The codings of a body in the order in which they were applied; `nil` if there is none, or an unknown one: then
    /// the body is passed on undecoded.
    static func decodable(in head: ResponseHead) -> [ContentCoding]? {
        let tokens = tokens(in: head)
        guard !tokens.isEmpty, tokens.count <= maximumCount else { return nil }
        let codings = tokens.compactMap { ContentCoding($0) }
        return codings.count == tokens.count && codings.allSatisfy(\.isAvailable) ? codings : nil
    }

    /// Why a body was not decoded.
    public enum Obstacle: Equatable, Sendable {
        /// One of its codings, which are listed, is unknown.
        case unknown(String)
        /// It has more than ``ContentCoding/maximumCount`` codings.
        case tooMany
    }

    /// Why a body was not decoded; `nil` if it was, or has no coding.
    public static func obstacle(in head: ResponseHead) -> Obstacle? {
        let tokens = tokens(in: head)
        guard !tokens.isEmpty, decodable(in: head) == nil else { return nil }
        return tokens.count > maximumCount ? .tooMany : .unknown(tokens.joined(separator: ", "))
    }

    /// The first tokens of all `Content-Encoding` fields in lower case, without `identity`: one more than
    /// ``maximumCount``, since an origin may send a hundred thousand.
    private static func tokens(in head: ResponseHead) -> [String] {
        var tokens: [String] = []
        for value in head.fields.all("content-encoding") {
            var rest = value.utf8[...]
            while !rest.isEmpty, tokens.count <= maximumCount {
                let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
                let token = rest[..<end].drop(while: isBlank).prefix { !isBlank($0) }
                rest = end == rest.endIndex ? rest[end...] : rest[rest.index(after: end)...]
                guard let first = token.first else { continue }
                // Most often there is none of these.
                if first | 0x20 == UInt8(ascii: "i"), Substring(token).lowercased() == "identity" { continue }
                tokens.append(Substring(token).lowercased())
            }
        }
        return tokens
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private var isAvailable: Bool {
        switch self {
        case .gzip, .deflate: true
        case .brotli: Codec.hasBrotli
        case .zstd: Codec.hasZstandard
        }
    }
}
