public import CarpoolHTTP
public import CarpoolSystem
internal import Glibc

/// The three fields that a session's requests carry unless they have their own (HH-06 to HH-10).
public enum DefaultFields {
    /// The content codings that are requested and can be decoded, best first.
    public static let acceptEncoding = HTTPField.qualityEncoded(["br", "gzip", "deflate"])

    /// The value of `Accept-Language`: the first six of the languages, best first; `en` if there are none.
    public static func acceptLanguage(_ languages: [String]) -> String {
        HTTPField.qualityEncoded(languages.isEmpty ? ["en"] : Array(languages.prefix(maximumLanguages)))
    }

    private static let maximumLanguages = 6

    /// The languages of an environment, best first, as tags (RFC 5646): those of `LANGUAGE`, then the locale of
    /// messages, which is the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is set. In the locale `C`, and with
    /// nothing set, `en` alone; as in gettext, `LANGUAGE` does not count in the locale `C`.
    public static func languages(from environment: Environment) -> [String] {
        let locale = environment["LC_ALL"] ?? environment["LC_MESSAGES"] ?? environment["LANG"]
        guard let locale else { return languages(in: environment["LANGUAGE"] ?? "") }
        guard locale != "C", locale != "POSIX" else { return ["en"] }
        return languages(in: "\(environment["LANGUAGE"] ?? ""):\(locale)")
    }

    private static func languages(in list: String) -> [String] {
        var languages: [String] = []
        for locale in list.split(separator: ":") where languages.count < maximumLanguages {
            guard let tag = languageTag(locale), !languages.contains(tag) else { continue }
            languages.append(tag)
        }
        return languages.isEmpty ? ["en"] : languages
    }

    /// `de_DE.UTF-8@euro` becomes `de-DE`; `nil` if it is not a tag.
    private static func languageTag(_ locale: Substring) -> String? {
        let name = locale.prefix { $0 != "." && $0 != "@" }
        if name == "C" || name == "POSIX" { return "en" }
        let tag = String(name.map { $0 == "_" ? "-" : $0 })
        return isLanguage(tag) && tag != "*" ? tag : nil
    }

    /// Whether a text is valid in `Accept-Language`: a range of languages (RFC 4647, section 2.1) of at most 35 bytes,
    /// `*` among them.
    public static func isLanguage(_ text: String) -> Bool {
        if text == "*" { return true }
        return text.utf8.count <= 35
            && text.split(separator: "-", omittingEmptySubsequences: false).allSatisfy { part in
                1...8 ~= part.utf8.count && part.utf8.allSatisfy(isAlphanumeric)
            }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 26
    }

    /// The value of `User-Agent`: `<client>/<version> (<system> <release>) Carpool/<release>`; unknown parts are
    /// `Unknown`.
    ///
    /// The client's name is arbitrary, so each character that a product must not contain (RFC 9110, section 10.1.5)
    /// becomes `_`, and a long name is truncated to 64 characters.
    public static func userAgent(client: String?, version: String?, system: String = system) -> String {
        let comment = system.unicodeScalars.filter {
            $0.value >= 0x20 && $0.value < 0x7F && !"()\\".unicodeScalars.contains($0)
        }
        return "\(token(client))/\(token(version)) (\(String(comment))) Carpool/\(Release.version)"
    }

    /// The name and release of the kernel: `Linux 6.1.0-13-amd64`.
    public static let system: String = {
        var names = utsname()
        guard uname(&names) == 0 else { return "Linux" }
        return "\(text(names.sysname)) \(text(names.release))"
    }()

    private static func text<Characters>(_ characters: Characters) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private static func token(_ text: String?) -> String {
        guard let text, !text.isEmpty else { return "Unknown" }
        let marks = "!#$%&'*+-.^_`|~".unicodeScalars
        return String(
            text.unicodeScalars.prefix(64).map { scalar -> Character in
                let isAllowed = UInt8(exactly: scalar.value).map(isAlphanumeric) ?? false || marks.contains(scalar)
                return isAllowed ? Character(scalar) : "_"
            })
    }

    /// The three fields for requests of one client.
    public static func fields(client: String?, version: String?, languages: [String]) -> [HTTPField] {
        [
            ("Accept-Encoding", acceptEncoding), ("Accept-Language", acceptLanguage(languages)),
            ("User-Agent", userAgent(client: client, version: version)),
        ].compactMap { try? HTTPField(name: $0, value: $1) }
    }
}

extension HTTPField {
    /// A list with falling weights: `;q=1.0`, `;q=0.9` and so on (HH-09; RFC 9110, section 12.4.2). From the tenth on
    /// each has `0.1`, since `0.0` would mean "not acceptable".
    public static func qualityEncoded(_ values: [String]) -> String {
        values.enumerated().map { index, value in
            let tenths = max(1, 10 - index)
            return "\(value);q=\(tenths / 10).\(tenths % 10)"
        }.joined(separator: ", ")
    }
}
