internal import Glibc

/// The addresses of a host and port, as curl's `--resolve` writes them: `host:port:address[,address]`.
public struct HostAddresses: Hashable, Sendable {
    /// The host in lower case and with A-labels, an IPv6 address in brackets; `*` for every host.
    public let host: String
    /// The port.
    public let port: UInt16
    /// The addresses, literals without brackets.
    public let addresses: [String]

    /// Why a text has not this form.
    public struct Refusal: Error, Sendable {
        /// What is wrong, in words.
        public let message: String
    }

    /// The most addresses of one host.
    public static let maximumAddresses = 16

    /// Parses the text of one entry.
    public init(_ text: String) throws(Refusal) {
        guard let (host, port, rest) = AuthorityText.split(text), let host, let port, !rest.isEmpty else {
            throw Refusal(message: "not a host, a port and an address: \(String(text.prefix(64)).debugDescription)")
        }
        self.host = try AuthorityText.host(host, allowsAny: true)
        // libcurl removes an entry whose name follows a hyphen.
        guard !self.host.hasPrefix("-") else { throw Refusal(message: "a host does not begin with a hyphen") }
        self.port = port
        let parts = rest.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count <= HostAddresses.maximumAddresses else {
            throw Refusal(message: "\(parts.count) addresses are too many")
        }
        var addresses: [String] = []
        for part in parts {
            guard let address = AuthorityText.address(part) else {
                throw Refusal(message: "not an IP address: \(String(part.prefix(64)).debugDescription)")
            }
            addresses.append(address)
        }
        self.addresses = addresses
    }

    /// The entry as curl writes it.
    public var text: String { "\(host):\(port):\(addresses.joined(separator: ","))" }
}

/// A host and port in place of another, as curl's `--connect-to` writes them: `host:port:other-host:other-port`.
public struct HostReplacement: Hashable, Sendable {
    /// The host of the URL, in lower case and with A-labels; `nil` for every host.
    public let host: String?
    /// The port of the URL; `nil` for every port.
    public let port: UInt16?
    /// The host that is connected to; `nil` for the URL's.
    public let targetHost: String?
    /// The port that is connected to; `nil` for the URL's.
    public let targetPort: UInt16?

    /// Parses the text of one entry; each of the four parts may be empty.
    public init(_ text: String) throws(HostAddresses.Refusal) {
        guard let (host, port, rest) = AuthorityText.split(text),
            let (targetHost, targetPort, end) = AuthorityText.split(rest), end.isEmpty
        else {
            throw HostAddresses.Refusal(
                message: "not two hosts, each with a port: \(String(text.prefix(64)).debugDescription)")
        }
        self.host = try host.map { text throws(HostAddresses.Refusal) in try AuthorityText.host(text) }
        self.port = port
        self.targetHost = try targetHost.map { text throws(HostAddresses.Refusal) in try AuthorityText.host(text) }
        self.targetPort = targetPort
    }

    /// The entry as curl writes it.
    public var text: String {
        "\(host ?? ""):\(port.map(String.init) ?? ""):\(targetHost ?? ""):\(targetPort.map(String.init) ?? "")"
    }
}

/// The syntax of hosts and ports outside URLs.
enum AuthorityText {
    /// Splits `host:port[:rest]`; a host in brackets may have colons. `nil` if there is no second part, or a port that
    /// is not a number from 1 to 65,535; empty parts are `nil`.
    static func split(_ text: some StringProtocol) -> (host: String?, port: UInt16?, rest: String)? {
        let hostEnd: String.Index
        let text = String(text)
        if text.utf8.first == UInt8(ascii: "[") {
            guard let bracket = text.firstIndex(of: "]") else { return nil }
            hostEnd = text.index(after: bracket)
        } else {
            hostEnd = text.firstIndex(of: ":") ?? text.endIndex
        }
        guard hostEnd < text.endIndex, text[hostEnd] == ":" else { return nil }
        let afterHost = text[text.index(after: hostEnd)...]
        let portEnd = afterHost.firstIndex(of: ":") ?? afterHost.endIndex
        let portText = afterHost[..<portEnd]
        guard portText.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        let port = UInt16(portText)
        guard portText.isEmpty || port ?? 0 > 0 else { return nil }
        let rest = portEnd < afterHost.endIndex ? String(afterHost[afterHost.index(after: portEnd)...]) : ""
        let host = String(text[..<hostEnd])
        return (host.isEmpty ? nil : host, port, rest)
    }

    /// A host as URLs have it: in lower case, with A-labels, an IPv6 address in brackets.
    static func host(_ text: String, allowsAny: Bool = false) throws(HostAddresses.Refusal) -> String {
        if allowsAny, text == "*" { return text }
        let isBare = !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && !"/?#@\\:".utf8.contains($0) && $0 != 0x7F }
        let isAddress = text.hasPrefix("[") && text.hasSuffix("]")
        guard isBare || isAddress, let url = try? HTTPURL("http://\(text)/") else {
            throw HostAddresses.Refusal(message: "not a host: \(String(text.prefix(64)).debugDescription)")
        }
        guard url.origin.zone == nil else {
            throw HostAddresses.Refusal(message: "an address with a zone: \(String(text.prefix(64)).debugDescription)")
        }
        return url.origin.host
    }

    /// An IP address, with or without brackets, in its usual form; `nil` for anything else.
    static func address(_ text: some StringProtocol) -> String? {
        var text = String(text)
        if text.hasPrefix("["), text.hasSuffix("]") { text = String(text.dropFirst().dropLast()) }
        // inet_pton(3) would read a text only up to a NUL.
        guard !text.utf8.contains(0) else { return nil }
        var bytes = in6_addr()
        var shown = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        for family in [AF_INET, AF_INET6] where inet_pton(family, text, &bytes) == 1 {
            guard inet_ntop(family, &bytes, &shown, socklen_t(shown.count)) != nil else { return nil }
            return String(decoding: shown.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        return nil
    }
}
