internal import CarpoolHTTP

/// The hosts of an evaluator: one host, `*.` before a name for all hosts with exactly one label more, or `*` for every
/// host; with a port, that port alone.
public struct HostPattern: Hashable, Sendable, CustomStringConvertible {
    /// The host in lower case, with A-labels and without a dot at its end, an IPv6 address in brackets; `*.` and a
    /// name, or `*`.
    public let host: String
    /// The port; `nil` for every port.
    public let port: UInt16?

    /// Why a text is not a pattern.
    public struct Refusal: Error, Sendable {
        /// What is wrong, in words.
        public let message: String
    }

    private init(host: String, port: UInt16?) {
        self.host = host
        self.port = port
    }

    /// Parses `host`, `host:port`, `*.name`, `*.name:port` or `*`; the case of letters does not matter (TR-01).
    public init(_ text: String) throws(Refusal) {
        let (name, port) = try HostPattern.split(text)
        self.port = port
        if name == "*" {
            host = name
            return
        }
        let isWildcard = name.hasPrefix("*.")
        let bare = isWildcard ? String(name.dropFirst(2)) : name
        let isPlain = !bare.isEmpty && !bare.utf8.contains { $0 <= 0x20 || $0 == 0x7F || "/?#@\\*".utf8.contains($0) }
        guard isPlain, let url = try? HTTPURL("https://\(bare)/"), url.origin.port == 443 else {
            throw Refusal(message: "not a host: \(String(text.prefix(64)).debugDescription)")
        }
        let host = HostPattern.name(url.origin.host)
        if isWildcard, HostPattern.isAddress(host) {
            throw Refusal(message: "an address has no labels for a *: \(host.debugDescription)")
        }
        self.host = isWildcard ? "*.\(host)" : host
    }

    private static func split(_ text: String) throws(Refusal) -> (name: String, port: UInt16?) {
        let searched = text.utf8.first == UInt8(ascii: "[") ? text.firstIndex(of: "]") : text.startIndex
        guard let start = searched, let colon = text[start...].firstIndex(of: ":") else { return (text, nil) }
        let digits = text[text.index(after: colon)...]
        guard !digits.hasPrefix("//"), !digits.contains(":") else {
            let shown = String(text.prefix(64)).debugDescription
            throw Refusal(message: "not a host, or an IPv6 address without brackets: \(shown)")
        }
        guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let port = UInt16(digits), port > 0 else {
            throw Refusal(message: "not a port from 1 to 65535: \(String(digits.prefix(64)).debugDescription)")
        }
        return (String(text[..<colon]), port)
    }

    private static func isAddress(_ host: String) -> Bool { ConnectionAddresses.address(host) != nil }

    /// The host without the dot at the end of a name that begins at DNS's root: it is the same host.
    static func name(_ host: String) -> String {
        host.utf8.count > 1 && host.utf8.last == UInt8(ascii: ".") ? String(host.dropLast()) : host
    }

    /// The patterns that have this origin, the most specific first.
    static func candidates(for origin: Origin) -> [HostPattern] {
        let host = name(origin.host)
        var hosts = [host]
        if !isAddress(host), let dot = host.firstIndex(of: ".") { hosts.append("*\(host[dot...])") }
        hosts.append("*")
        return hosts.flatMap { [HostPattern(host: $0, port: origin.port), HostPattern(host: $0, port: nil)] }
    }

    /// The pattern as text.
    public var description: String { port.map { "\(host):\($0)" } ?? host }
}
