/// What an option is about: the help of a command with many options has a heading for each topic.
enum OptionTopic: String, CaseIterable {
    case request = "What is sent"
    case output = "What is printed"
    case failures = "Failures and time"
    case redirects = "Redirects and versions of HTTP"
    case several = "Several URLs"
    case identity = "Users, passwords and cookies"
    case cache = "Stored responses"
    case trust = "Certificates and TLS"
    case addresses = "Addresses"
    case proxies = "Proxies"
    case carpool = "Carpool"

    /// The long names of its options.
    var options: [String] {
        switch self {
        case .request:
            [
                "--request", "--head", "--header", "--data", "--json", "--upload-file", "--form", "--query",
                "--user-agent",
                "--referer", "--range", "--compressed",
            ]
        case .output:
            [
                "--output", "--remote-name", "--continue-at", "--include", "--verbose", "--silent", "--show-error",
                "--write-out", "--whole", "--no-buffer", "--stream", "--pretty", "--lines", "--sse", "--max-filesize",
            ]
        case .failures:
            [
                "--fail", "--retry", "--retry-delay", "--retry-max-time", "--retry-all-errors", "--retry-connrefused",
                "--timeout", "--max-time", "--connect-timeout",
            ]
        case .redirects: ["--location", "--no-location", "--max-redirs", "--http1.1", "--http2"]
        case .several: ["--input-file", "--parallel", "--fail-early"]
        case .identity:
            [
                "--user", "--basic", "--digest", "--anyauth", "--netrc", "--netrc-optional", "--netrc-file",
                "--oauth2-token-url", "--oauth2-client-id", "--oauth2-client-secret", "--oauth2-client-auth",
                "--oauth2-scope", "--oauth2-param", "--cookie", "--cookie-jar", "--junk-session-cookies",
            ]
        case .cache: ["--cache", "--ttl", "--offline"]
        case .trust:
            [
                "--cacert", "--capath", "--insecure", "--pinnedpubkey", "--crlfile", "--cert-status", "--cert",
                "--cert-type",
                "--key", "--pass", "--tlsv1.0", "--tlsv1.1", "--tlsv1.2", "--tlsv1.3", "--tls-max", "--ciphers",
                "--tls13-ciphers",
            ]
        case .addresses: ["--resolve", "--connect-to", "--interface", "--unix-socket", "--ipv4", "--ipv6"]
        case .proxies:
            [
                "--proxy", "--proxy-user", "--proxy-basic", "--proxy-digest", "--proxy-anyauth", "--proxytunnel",
                "--noproxy",
                "--socks4", "--socks4a", "--socks5", "--socks5-hostname", "--preproxy",
            ]
        case .carpool: ["--session", "--priority", "--dry-run", "--socket", "--help"]
        }
    }

    /// Options under their headings.
    struct Group {
        let title: String
        let options: [OptionSpecification]
    }

    /// The most options that a reader overlooks without headings.
    private static let mostUnderOneHeading = 20

    /// The options of a command by topic; few ones are under one heading. An option without a topic is under the last.
    static func groups(of options: [OptionSpecification]) -> [Group] {
        guard options.count > mostUnderOneHeading else { return [Group(title: "Options", options: options)] }
        let known = Set(allCases.flatMap(\.options))
        return allCases.compactMap { topic in
            var members = topic.options.compactMap { name in options.first { $0.long == name } }
            if topic == .carpool { members.insert(contentsOf: options.filter { !known.contains($0.long) }, at: 0) }
            return members.isEmpty ? nil : Group(title: topic.rawValue, options: members)
        }
    }
}
