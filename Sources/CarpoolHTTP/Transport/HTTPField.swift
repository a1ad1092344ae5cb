/// One field of a request, validated when it is made: libcurl sends it as it is, and a line end in a value would pass
/// one client's response to another on a shared connection.
public struct HTTPField: Sendable, Hashable {
    /// The name as it is sent.
    public let name: String
    /// The value as it is sent, without blanks at its ends.
    public let value: String
    /// The bytes that are sent behind the colon over HTTP/1.1; `nil` for a blank and the value. An array, which is half
    /// as large as a string in the lists of all requests.
    let text: [UInt8]?

    /// Why a field was refused.
    public struct Refusal: Error, Sendable, CustomStringConvertible {
        /// The field's name as given.
        public let name: String
        /// The reason, in words.
        public let reason: String
        /// The name and the reason.
        public var description: String { "header \(name): \(reason)" }
    }

    /// Fields that the connection owns (RFC 9110, section 7.6.1; RFC 9112, section 6; RFC 9113, section 8.2.2).
    private static let reserved: [StaticString] = [
        "connection", "content-length", "expect", "http2-settings", "keep-alive", "proxy-authenticate",
        "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// Validates a field (RFC 9110, sections 5.1 and 5.5): the name is a token and not a hop-by-hop or framing field,
    /// the value has no control characters but the tab; that of `Host` is a host and an optional port. Blanks around
    /// the value are trimmed.
    public init(name: String, value: String) throws(Refusal) {
        guard !HTTPField.reserved.contains(where: { FieldName.matches(name, $0) }) else {
            guard HTTPMethod.isToken(name) else { throw HTTPField.badName(name) }
            throw Refusal(name: name, reason: "the connection sets hop-by-hop and framing headers itself; leave it out")
        }
        try self.init(ofConnection: name, value: value)
    }

    /// Validates a field that may be one of the connection too, for a request without default fields: the transport
    /// replaces the value of `Content-Length`, and the only value of `Transfer-Encoding` is `chunked`.
    public init(ofConnection name: String, value: String) throws(Refusal) {
        guard HTTPMethod.isToken(name) else { throw HTTPField.badName(name) }
        guard !FieldName.matches(name, "transfer-encoding") || FieldName.matches(value, "chunked") else {
            throw Refusal(name: name, reason: "the only transfer coding is chunked")
        }
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw Refusal(name: name, reason: "the value must not contain CR, LF, NUL or other control characters")
        }
        self.name = name
        self.value = HTTPField.trimmed(value)
        text = nil
        guard !FieldName.matches(name, "host") || HTTPField.isAuthority(self.value) else {
            throw Refusal(name: name, reason: "the value must be a host, with or without a port")
        }
    }

    /// Validates a field of a request without default fields from what is behind its colon, which is sent with its
    /// blanks.
    public init(ofConnection name: String, behindColon text: String) throws(Refusal) {
        let field = try HTTPField(ofConnection: name, value: HTTPField.trimmed(text))
        (self.name, value) = (field.name, field.value)
        // libcurl takes a field away that has blanks alone, and servers disagree on blanks before a coding.
        let isPlain = value.isEmpty || text != value && field.isNamed("transfer-encoding")
        self.text = isPlain ? nil : Array(text.utf8)
    }

    private static func badName(_ name: String) -> Refusal {
        Refusal(name: name, reason: "the name must be a token: letters, digits and !#$%&'*+-.^_`|~")
    }

    /// Whether a value has only characters of a host and a port (RFC 3986, section 3.2). Servers disagree on others.
    private static func isAuthority(_ value: String) -> Bool {
        let others = "-._~%!$&'()*+;=:[]".utf8
        return (1...255).contains(value.utf8.count)
            && value.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: others.contains(byte)
                }
            }
    }

    /// Whether it has this name, compared without case.
    public func isNamed(_ name: StaticString) -> Bool { FieldName.matches(self.name, name) }

    /// The value without blanks at its ends.
    static func trimmed(_ value: String) -> String {
        let bytes = value.utf8
        guard let first = bytes.firstIndex(where: { $0 != 0x20 && $0 != 0x09 }),
            let last = bytes.lastIndex(where: { $0 != 0x20 && $0 != 0x09 })
        else { return "" }
        if first == bytes.startIndex, bytes.index(after: last) == bytes.endIndex { return value }
        return String(value[first...last])
    }
}

/// A request method: any token (RFC 9110, section 9.1), case kept.
public struct HTTPMethod: Sendable, Hashable {
    /// The method as it is sent.
    public let rawValue: String

    /// Checks that the text is a token; `nil` if it is not. `CONNECT` is refused: a tunnel is not a request.
    public init?(_ rawValue: String) {
        guard HTTPMethod.isToken(rawValue), rawValue != "CONNECT" else { return nil }
        self.rawValue = rawValue
    }

    private init(known rawValue: String) { self.rawValue = rawValue }

    /// `GET`
    public static let get = HTTPMethod(known: "GET")
    /// `HEAD`
    public static let head = HTTPMethod(known: "HEAD")
    /// `POST`
    public static let post = HTTPMethod(known: "POST")

    /// Whether the method is idempotent (RFC 9110, section 9.2.2).
    public var isIdempotent: Bool {
        switch rawValue {
        case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": true
        default: false
        }
    }

    /// Whether the method is safe: it asks for no change (RFC 9110, section 9.2.1).
    public var isSafe: Bool {
        switch rawValue {
        case "GET", "HEAD", "OPTIONS", "TRACE", "QUERY": true
        default: false
        }
    }

    static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 256 && text.utf8.allSatisfy(isTokenByte)
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case 0x21, 0x23, 0x24, 0x25, 0x26, 0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }
}

extension HTTPField {
    /// Whether it has this name, compared without case (RFC 9110, section 5.1).
    public func hasName(_ other: String) -> Bool {
        let a = name.utf8
        let b = other.utf8
        return a.count == b.count && zip(a, b).allSatisfy { $0 == $1 || HTTPField.lowered($0) == HTTPField.lowered($1) }
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }
}
