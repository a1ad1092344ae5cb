/// Keeps passwords out of what others may read.
public enum URLRedaction {
    /// The URL without `user:password@`; works on any text, since a URL that cannot be parsed is told too. What parses with one slash, three or
    /// none is taken for a URL here as well.
    public static func withoutUserInformation(_ url: String) -> String {
        guard url.utf8.contains(UInt8(ascii: "@")), let colon = url.firstIndex(of: ":") else { return url }
        let start = url[colon...].dropFirst().drop { $0 == "/" }.startIndex
        let authority = url[start...].prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return url }
        return String(url[..<start] + url[url.index(after: at)...])
    }
}
