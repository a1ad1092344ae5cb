internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolSystem

/// The options of proxies. Without any of them, the variables of the environment apply, as in curl.
struct ProxyArguments: Equatable {
    /// The URL of `--proxy` and its relatives; empty for no proxy, also if the environment has one.
    var proxy: String?
    var user: String?
    var password = ""
    var schemes: [String]?
    var tunnels = false
    var preproxy: String?
    /// The hosts of `--noproxy`.
    var exceptions: String?

    /// Takes the value of `--proxy`, or that of `--socks5` and its relatives, which has no scheme.
    mutating func setURL(_ value: String, scheme: String?) {
        // It may have a password.
        if value.contains("@") { VisibleArguments.hide(value) }
        proxy = scheme.map { "\($0)://\(value)" } ?? value
    }

    mutating func setUser(_ value: String) throws(UsageError) {
        guard let colon = value.firstIndex(of: ":"), colon != value.startIndex else {
            throw UsageError("--proxy-user takes USER:PASSWORD")
        }
        VisibleArguments.hide(value)
        user = String(value[..<colon])
        password = String(value[value.index(after: colon)...])
    }

    /// Writes the parameter `proxy`.
    func write(to writer: inout JSONWriter, _ environment: Environment) {
        if proxy?.isEmpty == true {
            writer.key("proxy")
            writer.beginObject()
            writer.endObject()
            return
        }
        // By curl's rules: `http_proxy` only in lower case, because a CGI program has a variable `HTTP_PROXY` that its
        // client chooses. One by one: a list of pairs is a type that costs more than the rest.
        let anything = proxy == nil ? environment["all_proxy"] ?? environment["ALL_PROXY"] : nil
        let http = proxy == nil ? environment["http_proxy"] ?? anything : nil
        let https = proxy == nil ? environment["https_proxy"] ?? environment["HTTPS_PROXY"] ?? anything : nil
        guard proxy != nil || http != nil || https != nil || exceptions != nil else { return }
        writer.key("proxy")
        writer.beginObject()
        if let proxy { write("all", proxy, to: &writer) }
        if let http { write("http", http, to: &writer) }
        if let https { write("https", https, to: &writer) }
        if proxy == nil {
            writer.member("environment", true)
            if exceptions != nil { writer.member("no_proxy_in_session", true) }
        }
        writer.member("no_proxy", exceptions ?? environment["no_proxy"] ?? environment["NO_PROXY"])
        writer.endObject()
    }

    private static func hasUser(_ url: String) -> Bool {
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return rest.prefix { !"/?#".contains($0) }.contains("@")
    }

    private func write(_ name: StaticString, _ url: String, to writer: inout JSONWriter) {
        writer.key(name)
        guard user != nil || tunnels || preproxy != nil || schemes != nil else { return writer.string(url) }
        writer.beginObject()
        writer.member("url", url)
        // The user in the URL takes precedence, as in curl.
        if let user, !ProxyArguments.hasUser(url) {
            writer.member("username", user)
            writer.member("password", password)
        }
        if let schemes { writer.member("schemes", schemes) }
        if tunnels { writer.member("tunnel", true) }
        writer.member("preproxy", preproxy)
        writer.endObject()
    }
}

extension Option where Arguments == RequestArguments {
    /// The options of proxies.
    static var proxy: [Option] {
        [
            Option(
                "--proxy", short: "x", takes: "URL",
                "the proxy: [SCHEME://][USER:PASSWORD@]HOST[:PORT]; empty for none"
            ) { $0.proxy.setURL($1, scheme: nil) },
            Option("--proxy-user", short: "U", takes: "USER:PASSWORD", "the user and the password for the proxy") {
                (arguments, value) throws(UsageError) in try arguments.proxy.setUser(value)
            },
            Option("--proxy-basic", "send them at once (the default)") { $0.proxy.schemes = nil },
            Option("--proxy-digest", "use Digest authentication at the proxy") { $0.proxy.schemes = ["digest"] },
            Option("--proxy-anyauth", "use the strongest scheme that the proxy offers") {
                $0.proxy.schemes = ["basic", "digest"]
            },
            Option("--proxytunnel", short: "p", "use a tunnel through an HTTP proxy for http URLs too") {
                $0.proxy.tunnels = true
            },
            Option("--noproxy", takes: "HOSTS", "hosts that are reached without the proxy, with commas between them") {
                $0.proxy.exceptions = $1
            },
            socks("--socks4", "socks4"), socks("--socks4a", "socks4a"), socks("--socks5", "socks5"),
            socks("--socks5-hostname", "socks5h"),
            Option("--preproxy", takesNonEmpty: "URL", "the SOCKS proxy through which the HTTP proxy is reached") {
                $0.proxy.preproxy = $1
            },
        ]
    }

    private static func socks(_ long: String, _ scheme: String) -> Option {
        Option(long, takesNonEmpty: "HOST[:PORT]", "the proxy, \(scheme)") { $0.proxy.setURL($1, scheme: scheme) }
    }
}
