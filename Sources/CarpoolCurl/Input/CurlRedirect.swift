/// Decides what follows a response that leads to another URL, as curl 8.14.1 does.
struct CurlRedirect {
    /// The options that decide.
    let request: CurlRequestOptions
    let response: CurlResponseOptions
    /// The URL of the first request: credentials belong to its origin.
    let first: CurlURL

    /// The request that got the response.
    struct Hop {
        var url: CurlURL
        var body = CurlMethod.Body.none
        var login = CurlLogin()
        /// How many redirects were followed before it.
        var count = 0
    }

    /// The next request. All lines of `-H` stay, also those about a body that is not sent any more; which of them go to
    /// another host is decided by ``isTrusted`` and ``isFirstHost``. The strings of `-b` and the range stay too.
    struct Next: Equatable {
        let url: CurlURL
        let method: String
        /// What is sent. A body that stays is sent again from its beginning; one that cannot be read again fails with
        /// ``CurlRedirect/unrepeatable``.
        let body: CurlMethod.Body
        /// The new referer (`-e ';auto'`); `nil` if it does not change.
        let referer: String?
        let login: CurlLogin
        /// Whether the credentials may be sent: the lines Authorization and Cookie, and ``login``.
        let isTrusted: Bool
        /// Whether the host is that of the first request, so that the line Host applies.
        let isFirstHost: Bool
    }

    enum Decision: Equatable {
        /// The response is the last one; the URL that it leads to, for `%{redirect_url}`.
        case stop(redirectURL: String?)
        case follow(Next)
        /// The next request is not allowed. The URL is that of `%{url_effective}` if it has changed; a redirect that
        /// was counted is one of `%{num_redirects}`.
        case fail(CurlError, url: CurlURL?, redirectURL: String?, isCounted: Bool)
    }

    /// The body was read from a pipe and cannot be sent again.
    static let unrepeatable = CurlError(exitCode: CurlExitCode.cannotRewind, message: "seek callback returned error 2")

    /// The schemes that a redirect may lead to by default. curl follows to ftp and ftps too.
    static let schemes: Set<String> = ["http", "https"]

    /// The value of the first field Location of the last head in these bytes, without blanks at its ends: not always
    /// UTF-8. `nil` without one.
    static func location(inHead raw: [UInt8]) -> [UInt8]? {
        var value: ArraySlice<UInt8>?
        for line in raw.split(separator: 10, omittingEmptySubsequences: true) {
            let text = line.last == 13 ? line.dropLast() : line
            if text.hasPrefixIgnoringCase("HTTP/") {
                value = nil
            } else if value == nil, text.hasPrefixIgnoringCase("Location:") {
                value = text.dropFirst(9).trimmingBlanks
            }
        }
        return value.map { Array($0) }
    }

    /// Decides from the status and the first field Location, without blanks at its ends.
    func decide(status: Int, location: [UInt8]?, _ hop: Hop) -> Decision {
        guard (300..<400).contains(status), let location, !location.isEmpty else { return .stop(redirectURL: nil) }
        let base = hop.login.written(into: hop.url)
        let rules: CurlURL.Rules = request.keepsPath ? .keepsPath : []
        guard response.followsRedirects else {
            return .stop(redirectURL: CurlRedirect.target(location, from: base, rules))
        }
        if response.maximumRedirects >= 0, hop.count >= response.maximumRedirects {
            let error = CurlError(
                exitCode: CurlExitCode.tooManyRedirects,
                message: "Maximum (\(response.maximumRedirects)) redirects followed")
            let target = CurlRedirect.target(location, from: base, rules)
            return .fail(error, url: nil, redirectURL: target, isCounted: false)
        }
        do throws(CurlURLError) {
            return next(try base.resolving(location, rules.union([.encodes, .allowsSpaces])), status, hop)
        } catch {
            let message = "The redirect target URL could not be parsed: \(error.rawValue)"
            return .fail(
                CurlError(exitCode: error.exitCode, message: message), url: nil, redirectURL: nil, isCounted: true)
        }
    }

    /// The URL that a Location leads to; the Location itself if it is no URL.
    static func target(_ location: [UInt8], from url: CurlURL, _ rules: CurlURL.Rules = []) -> String {
        let lenient = rules.union([.allowsSpaces, .allowsAllSchemes])
        return (try? url.resolving(location, lenient))?.text ?? location.text
    }

    private func next(_ url: CurlURL, _ status: Int, _ hop: Hop) -> Decision {
        if let error = refusal(of: url.scheme) {
            return .fail(error, url: url, redirectURL: nil, isCounted: true)
        }
        var login = hop.login
        let hasMoved = url.effectivePort != hop.url.effectivePort || url.scheme != hop.url.scheme
        if hasMoved, !response.trustsRedirects { login.clear() }
        do throws(CurlError) {
            try login.read(url)
        } catch {
            return .fail(error, url: url, redirectURL: nil, isCounted: true)
        }
        let body = switchesToGet(status, hop.body) ? .none : hop.body
        return .follow(
            Next(
                url: url, method: CurlMethod.of(request, body), body: body,
                referer: request.setsReferer ? CurlRedirect.referer(hop.url) : nil, login: login,
                isTrusted: response.trustsRedirects || url.hasSameOrigin(as: first),
                isFirstHost: url.host.utf8.equalsIgnoringCase(first.host.utf8)))
    }

    private func refusal(of scheme: String) -> CurlError? {
        let allowed = (response.redirectSchemes ?? CurlRedirect.schemes).intersection(
            response.schemes ?? CurlRedirect.schemes)
        if allowed.contains(scheme), CurlRedirect.schemes.contains(scheme) { return nil }
        let isKnown = CurlRedirect.schemes.contains(scheme) || !["ftp", "ftps"].contains(scheme)
        return CurlError(
            exitCode: CurlExitCode.unsupportedProtocol,
            message: "Protocol \"\(scheme)\" \(isKnown ? "disabled" : "not supported") (in redirect)")
    }

    /// Whether the next request carries no body: a POST after 301, 302 or 303, and any body after 303.
    private func switchesToGet(_ status: Int, _ body: CurlMethod.Body) -> Bool {
        switch (status, body) {
        case (301, .post), (302, .post), (303, .post): !response.keepsPost.contains(status)
        case (303, .upload): true
        default: false
        }
    }

    /// The referer that a URL gives: without user, password and fragment.
    static func referer(_ url: CurlURL) -> String {
        var result = url
        result.user = nil
        result.password = nil
        result.fragment = nil
        return result.text
    }
}
