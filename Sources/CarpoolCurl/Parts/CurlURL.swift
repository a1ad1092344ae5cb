/// A URL in the parts that curl splits it into (curl_url_set). It is kept as it was written: curl encodes nothing, but
/// makes the scheme small, removes dot segments, and writes numbers of IPv4 and IPv6 addresses in their usual form.
struct CurlURL: Equatable {
    /// What a text may be.
    struct Rules: OptionSet {
        let rawValue: Int

        /// A URL without a scheme gets one by its host, mostly `http`.
        static let guessesScheme = Rules(rawValue: 1)
        static let allowsSpaces = Rules(rawValue: 2)
        /// Spaces and bytes outside ASCII are percent-encoded, as in a Location.
        static let encodes = Rules(rawValue: 4)
        /// Dot segments stay (`--path-as-is`).
        static let keepsPath = Rules(rawValue: 8)
        /// Schemes that curl does not know are allowed.
        static let allowsAllSchemes = Rules(rawValue: 16)
    }

    /// In small letters.
    var scheme = ""
    var user: String?
    var password: String?
    /// The host, an IPv6 address in brackets.
    var host = ""
    /// The zone of an IPv6 address.
    var zone: String?
    /// The port that the URL names.
    var port: UInt16?
    /// Empty for none.
    var path = ""
    /// `nil` for none; empty for a `?` alone.
    var query: String?
    /// `nil` for none or a `#` alone.
    var fragment: String?

    /// The port, by default that of the scheme; `nil` for a scheme without one.
    var effectivePort: UInt16? { port ?? CurlURL.defaultPort(of: scheme) }

    /// The path, `/` for none.
    var pathOrRoot: String { path.isEmpty ? "/" : path }

    /// The host without the brackets of an IPv6 address.
    var hostName: String { host.utf8.first == UInt8(ascii: "[") ? String(host.dropFirst().dropLast()) : host }

    /// The URL as text.
    var text: String {
        var result = scheme + "://"
        if scheme != "file" { result += authority }
        result += pathOrRoot
        if let query, !query.isEmpty { result += "?" + query }
        if let fragment { result += "#" + fragment }
        return result
    }

    private var authority: String {
        var result = user ?? ""
        if let password { result += ":" + password }
        if user != nil || password != nil { result += "@" }
        if let zone { result += host.dropLast() + "%25" + zone + "]" } else { result += host }
        if let port { result += ":\(port)" }
        return result
    }

    /// Whether both URLs are of the same host, port and scheme, to which the same credentials go.
    func hasSameOrigin(as other: CurlURL) -> Bool {
        host.utf8.equalsIgnoringCase(other.host.utf8) && effectivePort == other.effectivePort && scheme == other.scheme
    }

    /// Appends to the query, after `&` if there is one; escapes become small as in curl (`--url-query`, `-G`).
    mutating func append(query text: String) {
        let added = CurlURL.withSmallEscapes(text)
        guard let query, !query.isEmpty else { return query = added }
        self.query = query.utf8.last == UInt8(ascii: "&") ? query + added : query + "&" + added
    }

    /// curl writes the escapes of a part that is set as `%2f`, not as `%2F`.
    static func withSmallEscapes(_ text: String) -> String {
        var bytes = Array(text.utf8)
        var index = 0
        while index < bytes.count {
            let isEscape =
                bytes[index] == UInt8(ascii: "%") && index + 2 < bytes.count
                && bytes[index + 1].hexadecimalValue != nil && bytes[index + 2].hexadecimalValue != nil
            if isEscape {
                bytes[index + 1] = bytes[index + 1].lowercase
                bytes[index + 2] = bytes[index + 2].lowercase
            }
            index += isEscape ? 3 : 1
        }
        return bytes.text
    }

    /// The port of a scheme that the real curl knows; `nil` for others.
    static func defaultPort(of scheme: String) -> UInt16? {
        // A short program would make the table, which takes 160,000 instructions.
        switch scheme {
        case "http": 80
        case "https": 443
        default: otherPorts[scheme]
        }
    }

    private static let otherPorts: [String: UInt16] = [
        "dict": 2628, "file": 0, "ftp": 21, "ftps": 990, "gopher": 70, "gophers": 70, "imap": 143, "imaps": 993,
        "ldap": 389, "ldaps": 636, "mqtt": 1883, "pop3": 110, "pop3s": 995, "rtmp": 1935,
        "rtmpe": 1935, "rtmps": 443, "rtmpt": 80, "rtmpte": 80, "rtmpts": 443, "rtsp": 554, "scp": 22, "sftp": 22,
        "smb": 445, "smbs": 445, "smtp": 25, "smtps": 465, "telnet": 23, "tftp": 69, "ws": 80, "wss": 443,
    ]
}
