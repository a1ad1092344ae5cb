/// The user and the host of a URL as the user has written it. The daemon reads the URL by itself; this is for settings
/// that are chosen by the host before it gets the request.
struct URLAuthority {
    /// Percent-decoded; `nil` for none.
    let user: String?
    /// `nil` for none.
    let password: String?
    /// The host, an IPv6 address in brackets.
    let host: String
    /// The URL without user and password.
    let urlWithoutUser: String

    /// Reads a URL; `nil` if it has no host.
    init?(_ url: String) {
        guard let scheme = url.firstRange(of: "://") else { return nil }
        let rest = url[scheme.upperBound...]
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        let authority = rest[..<end]
        let at = authority.lastIndex(of: "@")
        let place = at.map { authority[authority.index(after: $0)...] } ?? authority
        var credential = (at.map { authority[..<$0] } ?? "").split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        password = credential.count > 1 ? credential.removeLast().description : nil
        user = credential.first.flatMap { $0.isEmpty ? nil : URLAuthority.decoded($0) }
        let bracket = place.first == "[" ? place.firstIndex(of: "]") : place.startIndex
        let colon = bracket.flatMap { place[$0...].firstIndex(of: ":") } ?? place.endIndex
        host = String(place[..<colon])
        urlWithoutUser = "\(url[..<scheme.upperBound])\(place)\(rest[end...])"
        if host.isEmpty { return nil }
    }

    /// The host, an IPv6 address without brackets.
    var name: String { host.first == "[" ? String(host.dropFirst().dropLast()) : host }

    /// Whether the host has neither escapes nor a zone.
    var hasPlainHost: Bool { !host.contains("%") }

    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let pair = String(rest.prefix(2)), let value = UInt8(pair, radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
