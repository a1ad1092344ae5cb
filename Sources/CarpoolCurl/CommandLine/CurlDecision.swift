/// What a command line of curl leads to.
enum CurlDecision: Equatable {
    /// The daemon carries it out.
    case run(CurlInvocation)
    /// The real curl carries it out, because of this option or URL.
    case real(reason: String)
    /// `--help`, with a category or an empty text.
    case help(String)
    case version

    /// Decides by the options, and then by the schemes of the URLs.
    static func of(_ line: CurlCommandLine) -> CurlDecision {
        switch line.answer {
        case .help(let category): return .help(category)
        case .version: return .version
        case .manual: return .real(reason: "--manual")
        case nil: break
        }
        if let option = line.realOption { return .real(reason: option) }
        for operation in line.invocation.operations {
            if let reason = reason(operation) { return .real(reason: reason) }
        }
        return .run(line.invocation)
    }

    /// The line of `-H` that needs the real curl, if there is one.
    private static func reason(ofHeaders operation: CurlOperation) -> String? {
        if operation.request.headers.contains(.line("Host:")) { return "-H Host:" }
        if operation.request.headers.contains(.line("Host;")) { return "-H Host;" }
        guard hasBody(operation), lines(operation).line(of: "Content-Length") != nil else { return nil }
        return "-H Content-Length:"
    }

    /// Whether a request has a body, whose length the daemon counts itself.
    private static func hasBody(_ operation: CurlOperation) -> Bool {
        !operation.request.data.isEmpty || !operation.request.form.isEmpty
            || operation.targets.contains { $0.upload?.isEmpty == false }
    }

    /// The lines of `-H` that are not in files.
    private static func lines(_ operation: CurlOperation) -> [String] {
        operation.request.headers.compactMap { if case .line(let line) = $0 { line } else { nil } }
    }

    /// The longest URL of a request to the daemon, in bytes.
    private static let longestURL = 65_536

    /// Why an operation needs the real curl; `nil` if it does not.
    private static func reason(_ operation: CurlOperation) -> String? {
        if operation.response.ignoresContentLength { return "--ignore-content-length" }
        if !operation.request.headers.isEmpty, let reason = reason(ofHeaders: operation) { return reason }
        let isTunnel = operation.connection.tunnels
        for url in operation.targets.compactMap(\.url) {
            if url.utf8.count > longestURL { return "a URL of more than \(longestURL) bytes" }
            guard let scheme = scheme(of: url, operation.request.defaultScheme) else { continue }
            guard ["http", "https"].contains(scheme) else {
                // What curl does not know fails here as there.
                if CurlURL.defaultPort(of: scheme) != nil { return "\(scheme)://" }
                continue
            }
            if scheme == "http", operation.connection.version == .http2 { return "--http2 for http" }
            if !operation.request.proxyHeaders.isEmpty, scheme == "https" || isTunnel { return "--proxy-header" }
        }
        return nil
    }

    /// The scheme of a URL before globbing: of a pattern of schemes, the first one.
    private static func scheme(of url: String, _ preset: String?) -> String? {
        if let end = url.firstRange(of: "://") {
            let text = url[..<end.lowerBound].lowercased()
            if text.utf8.allSatisfy({ $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) }) { return text }
            return text.hasPrefix("{") ? text.dropFirst().split(separator: ",").first.map(String.init) : nil
        }
        if let preset { return preset }
        let host = url.lowercased()
        for scheme in ["ftp", "dict", "ldap", "imap", "smtp", "pop3"] where host.hasPrefix("\(scheme).") {
            return scheme
        }
        return "http"
    }
}
