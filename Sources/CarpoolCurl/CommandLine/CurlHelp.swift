/// The texts of `carpool curl --help` and `--version`.
package enum CurlHelp {
    /// The categories, in the order of the help.
    package static let categories: [(name: String, title: String, options: [CurlOption])] = [
        ("curl", "The command itself", CurlOption.general), ("output", "Files and messages", CurlOption.output),
        ("transfer", "Redirects, retries, limits", CurlOption.transfer),
        ("request", "What is sent", CurlOption.request), ("fields", "Header fields and cookies", CurlOption.fields),
        ("connection", "Connections", CurlOption.connection), ("proxy", "Proxies", CurlOption.proxies),
        ("auth", "Users and passwords", CurlOption.authentication), ("tls", "TLS", CurlOption.security),
    ]

    private static let common: Set<String> = [
        "data", "fail", "help", "show-headers", "output", "remote-name", "silent", "upload-file", "user",
        "user-agent", "verbose", "version", "location", "header",
    ]

    /// The help: the common options without a category, those of one, or all of them.
    static func text(_ category: String) -> String {
        if category == "all" {
            return categories.map { "\($0.title):\n" + $0.options.map(line).joined() }.joined(separator: "\n")
        }
        if let found = categories.first(where: { $0.name == category }) {
            return "\(found.title):\n" + found.options.map(line).joined()
        }
        if let option = option(category) { return line(option) }
        let known = categories.map { " \(padded($0.name, 12))\($0.title)\n" }.joined()
        let options = CurlOptionTable.all.filter { common.contains($0.name) }.map(line).joined()
        return """
            Usage: carpool curl [options...] <url>
            \(options)
            carpool curl takes the command line of curl 8.14.1, and sends the requests through the daemon.
            What it cannot do, it leaves to the real curl. Use "--help all" for all options, "--help OPTION"
            for one, or "--help CATEGORY" with one of these:
            \(known)
            """
    }

    private static func option(_ text: String) -> CurlOption? {
        if text.hasPrefix("--") { return CurlOptionTable.named(String(text.dropFirst(2))) }
        guard text.hasPrefix("-"), text.count == 2 else { return nil }
        return CurlOptionTable.lettered(text.dropFirst().first ?? "-")
    }

    private static func line(_ option: CurlOption) -> String {
        let letter = option.letter.map { " -\($0), " } ?? "     "
        let argument = option.argument.map { " \($0)" } ?? ""
        return "\(padded("\(letter)--\(option.name)\(argument)", 32)) \(option.help)\n"
    }

    private static func padded(_ text: String, _ columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - text.count))
    }

    #if arch(arm64)
        private static let machine = "aarch64-unknown-linux-gnu"
    #else
        private static let machine = "x86_64-pc-linux-gnu"
    #endif

    /// The version in the form that scripts read: that of curl whose command line this is, the libraries that send the
    /// requests, with the one for TLS, and this program's version.
    static func version(_ own: String, libraries: String?) -> String {
        """
        curl 8.14.1 (\(machine)) \(libraries.map { "\($0) " } ?? "")carpool/\(own)
        Release-Date: 2025-06-04
        Protocols: http https
        Features: AsynchDNS brotli HTTP2 HTTPS-proxy IDN IPv6 Largefile libz PSL SSL UnixSockets

        """
    }
}
