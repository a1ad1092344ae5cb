internal import CarpoolJSON

/// The credentials of HTTP's Basic scheme (RFC 7617).
enum BasicCredential {
    /// The value that follows `Basic ` in the field: `user:password` in base64, as UTF-8.
    static func token(user: String, password: String) -> String {
        var token: [UInt8] = []
        Array("\(user):\(password)".utf8).withUnsafeBytes { Base64.encode($0, into: &token) }
        return String(decoding: token, as: UTF8.self)
    }
}
