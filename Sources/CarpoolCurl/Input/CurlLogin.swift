internal import CarpoolJSON

/// The user and the password for the origin, as they change with redirects. Those of `-u` go before those of a URL.
struct CurlLogin: Equatable {
    private(set) var user: String?
    private(set) var password: String?
    /// Whether they are those of `-u`.
    private var isOption = false
    /// The host for which a `.netrc` file has them; `nil` for those of `-u` and of URLs.
    private(set) var fileHost: String?

    /// No user, or the text of `-u`: `user:password`.
    init(option: String? = nil) {
        guard let option else { return }
        let colon = option.utf8.firstIndex(of: UInt8(ascii: ":"))
        user = String(option[..<(colon ?? option.endIndex)])
        password = colon.map { String(option[option.utf8.index(after: $0)...]) }
        isOption = true
    }

    /// The user and the password that a `.netrc` file has for a host.
    init(user: String, password: String, fileHost: String) {
        self.user = user
        self.password = password
        self.fileHost = fileHost
    }

    /// The value of Authorization in the Basic scheme; `nil` without a user.
    var basic: String? {
        guard user != nil || password != nil else { return nil }
        var text = Array("Basic ".utf8)
        Array("\(user ?? ""):\(password ?? "")".utf8).withUnsafeBytes { Base64.encode($0, into: &text) }
        return text.text
    }

    /// Takes the user and the password of a URL, unless `-u` gave both.
    mutating func read(_ url: CurlURL) throws(CurlError) {
        if isOption, password != nil { return }
        if let text = url.password {
            password = try CurlLogin.decode(text)
            (isOption, fileHost) = (false, nil)
        }
        if let text = url.user {
            user = try CurlLogin.decode(text)
            (isOption, fileHost) = (false, nil)
        }
    }

    /// Forgets them: the port or the scheme has changed.
    mutating func clear() {
        user = nil
        password = nil
        fileHost = nil
    }

    /// A URL with them, as relative redirects keep them in curl.
    func written(into url: CurlURL) -> CurlURL {
        var result = url
        if let user { result.user = CurlURL.withSmallEscapes(CurlPercent.encode(user.utf8).text) }
        if let password { result.password = CurlURL.withSmallEscapes(CurlPercent.encode(password.utf8).text) }
        return result
    }

    private static func decode(_ text: String) throws(CurlError) -> String {
        let bytes = CurlPercent.decode(text.utf8)
        guard bytes.allSatisfy({ $0 >= 0x20 }), let decoded = String(validating: bytes, as: UTF8.self) else {
            throw CurlError(CurlExitCode.malformedURL)
        }
        return decoded
    }
}
