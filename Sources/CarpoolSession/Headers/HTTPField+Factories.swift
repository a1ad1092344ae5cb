public import CarpoolHTTP

// Fields by their purpose (HH-03). All throw `HTTPField.Refusal` if the value holds control characters.
extension HTTPField {
    /// `Accept`
    public static func accept(_ value: String) throws(Refusal) -> HTTPField {
        try HTTPField(name: "Accept", value: value)
    }

    /// `Accept-Charset`
    public static func acceptCharset(_ value: String) throws(Refusal) -> HTTPField {
        try HTTPField(name: "Accept-Charset", value: value)
    }

    /// `Accept-Language`
    public static func acceptLanguage(_ value: String) throws(Refusal) -> HTTPField {
        try HTTPField(name: "Accept-Language", value: value)
    }

    /// `Accept-Encoding`. A request with its own gets the body without decoding.
    public static func acceptEncoding(_ value: String) throws(Refusal) -> HTTPField {
        try HTTPField(name: "Accept-Encoding", value: value)
    }

    /// `Authorization` of HTTP's Basic scheme (RFC 7617; HH-04): user and password as UTF-8 in base64.
    public static func authorization(user: String, password: String) throws(Refusal) -> HTTPField {
        try authorization("Basic \(BasicCredential.token(user: user, password: password))")
    }

    /// `Authorization` with a bearer token (RFC 6750; HH-05).
    public static func authorization(bearerToken: String) throws(Refusal) -> HTTPField {
        try authorization("Bearer \(bearerToken)")
    }

    /// `Authorization`
    public static func authorization(_ value: String) throws(Refusal) -> HTTPField {
        try HTTPField(name: "Authorization", value: value)
    }

    /// `Content-Disposition`
    public static func contentDisposition(_ value: String) throws(Refusal) -> HTTPField {
        try HTTPField(name: "Content-Disposition", value: value)
    }

    /// `Content-Encoding`
    public static func contentEncoding(_ value: String) throws(Refusal) -> HTTPField {
        try HTTPField(name: "Content-Encoding", value: value)
    }

    /// `Content-Type`
    public static func contentType(_ value: String) throws(Refusal) -> HTTPField {
        try HTTPField(name: "Content-Type", value: value)
    }

    /// `User-Agent`
    public static func userAgent(_ value: String) throws(Refusal) -> HTTPField {
        try HTTPField(name: "User-Agent", value: value)
    }

    /// `Sec-WebSocket-Protocol`
    public static func websocketProtocol(_ value: String) throws(Refusal) -> HTTPField {
        try HTTPField(name: "Sec-WebSocket-Protocol", value: value)
    }
}
