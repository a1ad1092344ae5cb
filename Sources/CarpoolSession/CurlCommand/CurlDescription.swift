public import CarpoolHTTP

/// A request as a command line for curl that runs in any POSIX shell, and sends the same request (CU-01 to CU-08).
///
/// The model's format: options on lines of their own. Beyond the model: quoting for the shell whatever the bytes are,
/// bodies of every kind, and curl's own defaults (fields, proxies, its configuration file) switched off. It omits what
/// cannot be written as one command: redirects that are modified or decided by a callback, an `Authorization` that
/// every redirect drops, and a 303 after a method other than GET, HEAD and POST, to which curl answers with the same
/// method again.
public enum CurlDescription {
    /// Returns the command line. Values that ``SecretNames`` names are masked unless `reveal` is true: in fields, in
    /// the URL, and in a form of `name=value` pairs; other bodies are shown as they are.
    ///
    /// Up to four times as long as the body. A file is given by its path; one without a path is read from standard
    /// input.
    /// - Parameters:
    ///   - request: the request to describe.
    ///   - credential: the user and the password of the request.
    ///   - cookies: the field `Cookie` that a jar has added; `nil` for none.
    ///   - reveal: whether secrets are shown.
    ///   - revealsProxy: whether the password of the proxy is shown too: not if it is the session's.
    ///   - redirect: how redirects are handled; `nil` describes the first hop alone.
    public static func text(
        for request: TransportRequest, credential: PasswordCredential? = nil, cookies: HTTPField? = nil,
        reveal: Bool = false, revealsProxy: Bool = false, redirect: RedirectHandler? = nil
    ) -> String {
        let body = CurlBody(of: reveal ? request : masked(request))
        // -q comes first, so that ~/.curlrc is not read; -g takes brackets and braces of the URL literally.
        var lines = ["\(body.source.map { "\($0) | " } ?? "")curl -q -v -g"]
        lines += connection(request, reveal: revealsProxy)
        if let credential { lines += authentication(credential, reveal: reveal) }
        if let cookies { lines.append("-b \(ShellText.quoted(reveal ? cookies.value : masked(cookies)))") }
        if let redirect { lines += redirection(redirect, request) }
        lines += limits(request)
        lines += method(request)
        lines += fields(request, reveal: reveal)
        if let argument = body.argument { lines.append(argument) }
        // Without --path-as-is: both the daemon and curl remove dot segments from the path.
        let url = request.url.description
        lines.append(ShellText.quoted(reveal ? url : Redaction.withoutSecrets(url)))
        return lines.joined(separator: " \\\n\t")
    }

    /// The request with the secrets of a form hidden.
    private static func masked(_ request: TransportRequest) -> TransportRequest {
        guard case .bytes(let bytes) = request.body,
            let type = request.fields.first(where: { $0.isNamed("content-type") })?.value.lowercased(),
            type.hasPrefix("application/x-www-form-urlencoded")
        else { return request }
        let text = String(decoding: bytes, as: UTF8.self)
        let shown = Redaction.withoutSecrets(text)
        guard shown != text else { return request }
        var masked = request
        masked.body = .bytes(Array(shown.utf8))
        return masked
    }

    /// The cookies without their values; with an equals sign, because curl takes other text for the name of a file.
    private static func masked(_ cookies: HTTPField) -> String {
        cookies.value.split(separator: "; ").map { pair in
            // All of a cookie without a name is its value.
            let name = pair.contains("=") ? pair.prefix { $0 != "=" } : ""
            return "\(name)=\(Redaction.mark)"
        }.joined(separator: "; ")
    }

    private static func connection(_ request: TransportRequest, reveal: Bool) -> [String] {
        // The environment has no effect: the proxy is the request's, or there is none.
        var lines = [request.partition.proxy == nil ? "--noproxy '*'" : "--noproxy ''"]
        if request.httpVersion == .http1 { lines.append("--http1.1") }
        return lines + CurlConnection.options(request.partition, reveal: reveal)
    }

    private static func authentication(_ credential: PasswordCredential, reveal: Bool) -> [String] {
        let password = reveal ? credential.password : Redaction.mark
        let scheme =
            credential.isPreemptive ? "--basic" : credential.schemes == [.digest] ? "--digest" : "--anyauth"
        return [scheme, "-u \(ShellText.quoted("\(credential.user):\(password)"))"]
    }

    private static func redirection(_ redirect: RedirectHandler, _ request: TransportRequest) -> [String] {
        guard case .follow = redirect.behaviour else { return [] }
        // With --location-trusted curl sends its credentials to every origin.
        var lines = [
            "\(redirect.authorization == .always ? "--location-trusted" : "-L") --max-redirs \(redirect.maximumHops)"
        ]
        let staysSecure = request.url.origin.scheme == "https" && !redirect.allowsDowngrade
        lines.append("--proto-redir \(staysSecure ? "'=https'" : "'=http,https'")")
        guard request.sendsLength else { return lines }
        if redirect.keepsMethod {
            lines.append("--post301 --post302 --post303")
        } else if request.method != .post {
            // Only a POST becomes a GET; without these, curl would send the method again, but not the body.
            lines.append("--post301 --post302")
        }
        return lines
    }

    private static func limits(_ request: TransportRequest) -> [String] {
        let usual = TransportRequest(method: request.method, url: request.url)
        var lines: [String] = []
        if request.connectTimeoutMilliseconds != usual.connectTimeoutMilliseconds {
            lines.append("--connect-timeout \(seconds(request.connectTimeoutMilliseconds))")
        }
        if request.resourceTimeoutMilliseconds != usual.resourceTimeoutMilliseconds {
            lines.append("--max-time \(seconds(request.resourceTimeoutMilliseconds))")
        }
        return lines
    }

    private static func seconds(_ milliseconds: Int) -> String {
        let (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
        guard rest > 0 else { return "\(whole)" }
        return "\(whole).\(String(repeating: "0", count: 3 - "\(rest)".utf8.count))\(rest)"
    }

    /// `-X` only where curl would not choose the method itself: it would use it on redirects too, and wait for the body
    /// of a HEAD.
    private static func method(_ request: TransportRequest) -> [String] {
        if request.method == .head { return ["-I"] }
        if request.method == (request.sendsLength ? .post : .get) { return [] }
        let name = request.method.rawValue
        let isWord = name.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        return ["-X \(isWord ? name : ShellText.quoted(name))"]
    }

    private static func fields(_ request: TransportRequest, reveal: Bool) -> [String] {
        let sendsHost = request.differentHost != nil
        let fields = request.fields.filter { sendsHost || !$0.isNamed("host") }
        // Decoded as by the daemon, with the same `Accept-Encoding`.
        let decoding = ["--compressed", "-H 'Accept-Encoding: \(TransportRequest.acceptEncoding)'"]
        var lines = request.isDecoded ? decoding : []
        var own: [StaticString] = ["Accept", "User-Agent"]
        if request.sendsLength { own += ["Content-Type", "Expect"] }
        for name in own where !fields.contains(where: { $0.isNamed(name) }) { lines.append("-H '\(name):'") }
        for field in fields {
            let value = reveal ? field.value : Redaction.shown(field.value, of: field.name)
            // curl's syntax for a field without a value; `Name:` would remove the field.
            lines.append("-H \(ShellText.quoted(value.isEmpty ? "\(field.name);" : "\(field.name): \(value)"))")
        }
        return lines
    }
}
