/// A request of a transfer: the first one, or one after a redirect.
struct CurlHop {
    var url: CurlURL
    var method: String
    var body: CurlMethod.Body
    var login: CurlLogin
    var referer: String?
    var isTrusted = true
    var isFirstHost = true
    /// How many redirects were followed before it.
    var redirects = 0

    /// Whether the host may know the login: it is a trusted one, or a `.netrc` file has the login for it.
    var sendsLogin: Bool { isTrusted || login.fileHost == url.hostName }

    /// The first request of a transfer.
    init(_ transfer: CurlPlannedTransfer) throws(CurlError) {
        let options = transfer.operation.options
        var text = transfer.url
        if let scheme = options.request.defaultScheme, !text.contains("://") { text = "\(scheme)://\(text)" }
        do throws(CurlURLError) {
            var rules: CurlURL.Rules = .guessesScheme
            if options.request.keepsPath { rules.insert(.keepsPath) }
            url = try CurlURL(text, rules)
        } catch {
            let message =
                error == .unsupportedScheme
                ? "Protocol \"\(text.prefix { $0 != ":" })\" not supported" : "URL rejected: \(error.rawValue)"
            throw CurlError(exitCode: error.exitCode, message: message)
        }
        if let allowed = options.response.schemes, !allowed.contains(url.scheme) {
            throw CurlError(
                exitCode: CurlExitCode.unsupportedProtocol, message: "Protocol \"\(url.scheme)\" disabled")
        }
        body = transfer.body
        method = CurlMethod.of(options.request, body)
        login = try transfer.operation.logins.login(at: url)
        referer = options.request.referer
    }

    /// The request that a redirect leads to.
    func following(_ next: CurlRedirect.Next, _ logins: CurlLogins) -> CurlHop {
        var hop = self
        hop.url = next.url
        hop.method = next.method
        hop.body = next.body
        hop.login = logins.complete(next.login, at: next.url, after: url)
        hop.referer = next.referer ?? referer
        hop.isTrusted = next.isTrusted
        hop.isFirstHost = next.isFirstHost
        hop.redirects += 1
        return hop
    }
}
