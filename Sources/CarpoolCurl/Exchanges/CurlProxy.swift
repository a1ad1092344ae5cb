internal import CarpoolJSON
internal import CarpoolSystem

/// The proxy through which a URL is reached.
struct CurlProxy: Equatable {
    /// Its URL, with a scheme and without a path.
    let url: String
    /// What the option or the variable says.
    let text: String
    /// The value of `--proxy-user`, unless the URL has a user.
    let user: String?
    let schemes: [String]
    /// The SOCKS proxy through which it is reached.
    let preproxy: String?
    /// Whether it is an HTTP proxy, and gets the request itself instead of a tunnel.
    let getsRequest: Bool
    /// Whether the connection is a tunnel that an HTTP proxy makes.
    let isTunnel: Bool

    /// Decides from the options and the variables of the environment; `nil` for none. Of the variables `http_proxy` is
    /// read in small letters only, because a CGI program has a variable `HTTP_PROXY` that its client chooses.
    static func of(_ url: CurlURL, _ options: CurlConnectionOptions, _ environment: Environment) -> CurlProxy? {
        guard options.unixSocket == nil else { return nil }
        let exceptions = options.noProxy ?? environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        guard let text = options.proxy ?? variable(url.scheme, environment), !text.isEmpty,
            !CurlNoProxy(exceptions).contains(url.hostName)
        else { return nil }
        let full = withoutPath(text.contains("://") ? text : "\(options.proxyScheme ?? "http")://\(text)")
        let isHTTP = full.utf8.hasPrefixIgnoringCase("http")
        let isTunnel = isHTTP && (options.tunnels || url.scheme == "https")
        let user = hasUser(full) ? nil : options.proxyUser
        return CurlProxy(
            url: full, text: text, user: user, schemes: options.proxySchemes, preproxy: options.preproxy,
            getsRequest: isHTTP && !isTunnel, isTunnel: isTunnel)
    }

    /// Whether there is a user for it.
    var hasCredential: Bool { user != nil || CurlProxy.hasUser(url) }

    private static let schemes: Set<String> = ["http", "https", "socks", "socks4", "socks4a", "socks5", "socks5h"]

    /// The URL up to the end of its host and port: as in curl, the rest has no meaning.
    private static func withoutPath(_ url: String) -> String {
        guard let start = url.firstRange(of: "://")?.upperBound else { return url }
        return String(url[..<start] + url[start...].prefix { !"/?#".contains($0) })
    }

    /// Fails for what is no URL, and for a scheme that is none of a proxy, in curl's words.
    func check() throws(CurlError) {
        do throws(CurlURLError) {
            _ = try CurlURL(url, .allowsAllSchemes)
        } catch {
            throw CurlError(
                exitCode: CurlExitCode.unresolvedProxy,
                message: "Unsupported proxy syntax in '\(text)': \(error.rawValue)")
        }
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard !CurlProxy.schemes.contains(scheme) else { return }
        throw CurlError(
            exitCode: CurlExitCode.noConnection, message: "Unsupported proxy scheme for '\(url)'")
    }

    private static func variable(_ scheme: String, _ environment: Environment) -> String? {
        let names =
            scheme == "https"
            ? ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] : ["http_proxy", "all_proxy", "ALL_PROXY"]
        return names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    }

    private static func hasUser(_ url: String) -> Bool {
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return rest.prefix { !"/?#".contains($0) }.contains("@")
    }

    /// Writes the value of the parameter `proxy`.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("all")
        writer.beginObject()
        writer.member("url", url)
        if let user {
            let colon = user.firstIndex(of: ":")
            writer.member("username", String(user[..<(colon ?? user.endIndex)]))
            writer.member("password", colon.map { String(user[user.index(after: $0)...]) } ?? "")
        }
        if !schemes.isEmpty { writer.member("schemes", schemes) }
        if isTunnel { writer.member("tunnel", true) }
        writer.member("preproxy", preproxy)
        writer.endObject()
        writer.endObject()
    }
}
