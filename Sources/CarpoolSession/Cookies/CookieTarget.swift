public import CarpoolHTTP

/// What a jar has to know of a request: where it goes.
public struct CookieTarget {
    /// The origin.
    public let origin: Origin
    /// The path of the URL, without the query.
    let path: Substring
    /// Whether the connection goes to the host itself, and not to a proxy or to another address.
    private let isDirect: Bool

    /// The target of a URL.
    public init(_ url: HTTPURL, isDirect: Bool = true) {
        self.isDirect = isDirect
        origin = url.origin
        // Behind the third slash, which an origin alone may lack.
        let text = url.description.utf8
        let authority = text.index(text.startIndex, offsetBy: origin.scheme.utf8.count + 3)
        let start = text[authority...].firstIndex { CookieTarget.endsPart($0) || $0 == UInt8(ascii: "/") }
        guard let start, text[start] == UInt8(ascii: "/") else {
            path = "/"
            return
        }
        path = url.description[start..<(text[start...].firstIndex(where: CookieTarget.endsPart) ?? text.endIndex)]
    }

    /// The target of a hop.
    init(_ hop: TransportRequest) {
        let addresses = hop.partition.addresses
        self.init(hop.url, isDirect: hop.partition.proxy == nil && addresses?.replacesHost(hop.url.origin.host) != true)
    }

    private static func endsPart(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }

    /// The host as domains are compared: without the dot of an absolute name, with the zone of an IPv6 address.
    public var host: String {
        if origin.zone != nil { return origin.hostWithZone }
        return origin.host.utf8.last == UInt8(ascii: ".") ? String(origin.host.dropLast()) : origin.host
    }

    /// Whether cookies with `Secure` may be sent there: over TLS, and to this machine, as curl and browsers do.
    var isSecure: Bool { origin.scheme == "https" || isDirect && isLoopback }

    /// The domain of all hosts that belong together: the public suffix with one label before it.
    var site: String { PublicSuffixes.registrableDomain(of: host) }

    private var isLoopback: Bool {
        let host = self.host
        return host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]"
            || host.hasPrefix("127.") && Cookie.isAddress(host)
    }
}

extension ConnectionAddresses {
    /// Whether connections may go elsewhere than to the addresses of a host.
    fileprivate func replacesHost(_ host: String) -> Bool {
        socket != nil || !connectTo.isEmpty || !resolve.isEmpty && !Cookie.isAddress(host)
    }
}

/// A domain in the form in which jars have it.
public enum CookieDomain {
    /// The domain in lower case, without a dot before it and behind it, an IPv6 address in brackets; `nil` if the text
    /// is no host.
    public static func normalized(_ text: String) -> String? {
        var name = text[...]
        if name.utf8.first == UInt8(ascii: ".") { name = name.dropFirst() }
        if name.utf8.last == UInt8(ascii: ".") { name = name.dropLast() }
        let isClean = name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !excluded.contains($0) }
        guard isClean, !name.isEmpty, name.utf8.count <= Cookie.maximumDomainBytes else { return nil }
        let host = name.lowercased()
        guard host.utf8.contains(UInt8(ascii: ":")) else { return host }
        // curl's files have IPv6 addresses without brackets.
        let url = try? HTTPURL("http://\(host.hasPrefix("[") ? host : "[\(host)]")/")
        return url.map { CookieTarget($0).host }
    }

    private static let excluded = Array("/@?#;,\\\"".utf8)

    /// The domain as cookie files have it: an IPv6 address without brackets.
    static func inFile(_ domain: String) -> String {
        domain.hasPrefix("[") ? String(domain.dropFirst().dropLast()) : domain
    }
}
