/// The options about connections, proxies, users and certificates.
extension CurlOption {
    static let connection: [CurlOption] = [
        .action("http1.1", nil, "Use HTTP/1.1") { $0.operation.connection.version = .http11 },
        .action("http2", nil, "Use HTTP/2 over TLS") { $0.operation.connection.version = .http2 },
        .text("connect-timeout", nil, "<seconds>", "The longest time to connect") { (line, text) throws(CurlError) in
            line.operation.connection.connectMilliseconds = try CurlNumber.milliseconds(text)
        },
        .word("resolve", nil, "<host:port:address>", "Use an address for a host and port") {
            $0.operation.connection.resolve.append($1)
        },
        .word("connect-to", nil, "<host1:port1:host2:port2>", "Connect to another host") {
            $0.operation.connection.connectTo.append($1)
        },
        .file("unix-socket", nil, "<path>", "Connect to a Unix socket") { $0.operation.connection.unixSocket = $1 },
        .word("interface", nil, "<name>", "Use a network interface or a local address") {
            $0.operation.connection.interface = $1
        },
        .action("ipv4", "4", "Use IPv4 addresses alone") { $0.operation.connection.family = 4 },
        .action("ipv6", "6", "Use IPv6 addresses alone") { $0.operation.connection.family = 6 },
        .text("proto", nil, "<protocols>", "The protocols that are allowed") { line, text in
            line.operation.response.schemes = line.schemes(text)
        },
        .text("proto-redir", nil, "<protocols>", "The protocols that redirects may lead to") { line, text in
            line.operation.response.redirectSchemes = line.schemes(text)
        },
        .word("proto-default", nil, "<protocol>", "The protocol of URLs without one") {
            (line, text) throws(CurlError) in
            guard CurlURL.defaultPort(of: text.lowercased()) != nil else { throw CurlValueError.protocolIsUnsupported }
            line.operation.request.defaultScheme = text.lowercased()
        },
        .set("ignore-content-length", nil, "Receive until the connection ends") {
            $0.operation.response.ignoresContentLength = $1
        },
    ]

    static let proxies: [CurlOption] = [
        .text("proxy", "x", "<[protocol://]host[:port]>", "The proxy; empty for none") { $0.set(proxy: $1, nil) },
        .word("socks4", nil, "<host[:port]>", "A proxy of SOCKS4") { $0.set(proxy: $1, "socks4") },
        .word("socks4a", nil, "<host[:port]>", "A proxy of SOCKS4a") { $0.set(proxy: $1, "socks4a") },
        .word("socks5", nil, "<host[:port]>", "A proxy of SOCKS5, with an address") { $0.set(proxy: $1, "socks5") },
        .word("socks5-hostname", nil, "<host[:port]>", "A proxy of SOCKS5, with the name") {
            $0.set(proxy: $1, "socks5h")
        },
        .word("preproxy", nil, "<[protocol://]host[:port]>", "The SOCKS proxy before the proxy") {
            $0.operation.connection.preproxy = $1
        },
        .text("proxy-user", "U", "<user:password>", "The user for the proxy") {
            $0.operation.connection.proxyUser = $1
        },
        .set("proxy-basic", nil, "Send the user to the proxy at once") {
            $0.operation.connection.proxySchemes = $1 ? ["basic"] : []
        },
        .set("proxy-digest", nil, "Send the user to the proxy by Digest") {
            $0.operation.connection.proxySchemes = $1 ? ["digest"] : []
        },
        .set("proxy-anyauth", nil, "Send the user to the proxy as it asks for") {
            $0.operation.connection.proxySchemes = $1 ? ["basic", "digest"] : []
        },
        .set("proxytunnel", "p", "Use a tunnel for http too") { $0.operation.connection.tunnels = $1 },
        .text("noproxy", nil, "<list>", "Hosts that are reached without a proxy") {
            $0.operation.connection.noProxy = $1
        },
    ]

    static let authentication: [CurlOption] = [
        .text("user", "u", "<user:password>", "The user for the server") { $0.operation.security.user = $1 },
        .set("basic", nil, "Send the user at once (the default)") {
            $0.operation.security.schemes = $1 ? ["basic"] : []
        },
        .set("digest", nil, "Send the user by Digest") { $0.operation.security.schemes = $1 ? ["digest"] : [] },
        .action("anyauth", nil, "Send the user as the server asks for") {
            $0.operation.security.schemes = ["basic", "digest"]
        },
        .word("oauth2-bearer", nil, "<token>", "Send a bearer token") { $0.operation.security.bearer = $1 },
        .set("netrc", "n", "Read users from ~/.netrc") { $0.operation.security.readsNetrc = $1 },
        .set("netrc-optional", nil, "Read users from ~/.netrc, if it has any") {
            $0.operation.security.hasOptionalNetrc = $1
        },
        .file("netrc-file", nil, "<file>", "Read users from a file") { $0.operation.security.netrcFile = $1 },
    ]

    static let security: [CurlOption] = [
        .set("insecure", "k", "Do not verify the server") { $0.operation.security.isInsecure = $1 },
        .file("cacert", nil, "<file>", "Trust the authorities of a file") {
            $0.operation.security.authoritiesFile = $1
        },
        .file("capath", nil, "<dir>", "Trust the authorities of a folder") {
            $0.operation.security.authoritiesDirectory = $1
        },
        .file("crlfile", nil, "<file>", "A file of revoked certificates") {
            $0.operation.security.revocationLists = $1
        },
        .set("cert-status", nil, "Require a proof that the certificate is not revoked") {
            $0.operation.security.requiresStatus = $1
        },
        .file("cert", "E", "<certificate[:password]>", "The client certificate") {
            $0.operation.security.certificate = $1
        },
        .word("cert-type", nil, "<type>", "PEM or P12") { (line, text) throws(CurlError) in
            if !["pem", "p12"].contains(text.lowercased()) { line.needsReal("--cert-type \(text)") }
            line.operation.security.certificateType = text
        },
        .file("key", nil, "<file>", "The private key") { $0.operation.security.key = $1 },
        .word("key-type", nil, "<type>", "PEM") { (line, text) throws(CurlError) in
            if text.lowercased() != "pem" { line.needsReal("--key-type \(text)") }
        },
        .word("pass", nil, "<phrase>", "The password of the private key") { $0.operation.security.password = $1 },
        .word("pinnedpubkey", nil, "<hashes>", "The public keys that the server may have") {
            $0.operation.security.pinnedKeys = $1
        },
        .action("tlsv1", "1", "Use TLS 1.0 or newer") { $0.operation.security.minimumTLS = 0 },
        .action("tlsv1.0", nil, "Use TLS 1.0 or newer") { $0.operation.security.minimumTLS = 0 },
        .action("tlsv1.1", nil, "Use TLS 1.1 or newer") { $0.operation.security.minimumTLS = 1 },
        .action("tlsv1.2", nil, "Use TLS 1.2 or newer") { $0.operation.security.minimumTLS = 2 },
        .action("tlsv1.3", nil, "Use TLS 1.3") { $0.operation.security.minimumTLS = 3 },
        .text("tls-max", nil, "<version>", "The newest version of TLS") { (line, text) throws(CurlError) in
            let versions = ["default": 3, "1.0": 0, "1.1": 1, "1.2": 2, "1.3": 3]
            guard let version = versions[text] else { throw CurlValueError.badUse }
            line.operation.security.maximumTLS = version
        },
        .word("ciphers", nil, "<list>", "The ciphers of TLS 1.2") { $0.operation.security.ciphers = $1 },
        .word("tls13-ciphers", nil, "<list>", "The cipher suites of TLS 1.3") { $0.operation.security.suites = $1 },
    ]
}

extension CurlCommandLine {
    fileprivate mutating func set(proxy: String, _ scheme: String?) {
        operation.connection.proxy = proxy
        operation.connection.proxyScheme = scheme
    }

    /// The protocols of a list such as `=https` or `-all,http`, as far as they are of HTTP.
    fileprivate mutating func schemes(_ text: String) -> Set<String> {
        var schemes: Set<String> = ["http", "https"]
        for item in text.split(separator: ",") {
            let mark = item.first.flatMap { "+-=".contains($0) ? $0 : nil }
            let name = (mark == nil ? item : item.dropFirst()).lowercased()
            let named: Set<String> = name == "all" ? ["http", "https"] : [name]
            guard name == "all" || CurlURL.defaultPort(of: name) != nil else {
                warnings.append("unrecognized protocol '\(name)'")
                if mark == "=" { schemes = [] }
                continue
            }
            switch mark {
            case "=": schemes = named
            case "-": schemes.subtract(named)
            default: schemes.formUnion(named)
            }
        }
        return schemes
    }
}
