internal import CarpoolCaller
internal import CarpoolSystem

// Options with the names and the meanings that they have in curl.

extension RequestArguments {
    /// Whether an option says that the body is printed while it arrives.
    var isStream: Bool { streaming != nil || isRawStream }

    /// The value of `--pretty`.
    static func layout(_ text: String) throws(UsageError) -> Layout {
        guard let layout = Layout(rawValue: text) else {
            throw UsageError("--pretty takes auto, always or never, not '\(text)'")
        }
        return layout
    }

    /// The URL with what `--query` adds, before its fragment.
    var completeURL: String {
        guard !queries.isEmpty else { return url }
        let end = url.firstIndex(of: "#") ?? url.endIndex
        let base = url[..<end]
        let separator = base.contains("?") ? (base.hasSuffix("?") || base.hasSuffix("&") ? "" : "&") : "?"
        return base + separator + queries.map(\.encoded).joined(separator: "&") + url[end...]
    }

    /// The URL, with `http://` if it has no scheme, as in curl.
    static func withScheme(_ url: String) -> String {
        var isScheme = false
        for (index, byte) in url.utf8.enumerated() {
            if byte == UInt8(ascii: ":") {
                isScheme = index > 0 && url.utf8.dropFirst(index).starts(with: "://".utf8)
                break
            }
            let isLetter = 0x41...0x5A ~= byte & 0xDF
            guard isLetter || index > 0 && (0x2B...0x39 ~= byte && byte != 0x2C && byte != 0x2F) else { break }
        }
        return isScheme || url.isEmpty || url.hasPrefix("/") ? url : "http://\(url)"
    }

    /// Names the output after the URL's last segment, with `-O`.
    mutating func nameOutput() throws(Failure) {
        guard usesRemoteName else { return }
        let path = url.prefix { $0 != "?" && $0 != "#" }
        let name = path.firstRange(of: "://").map { path[$0.upperBound...] }?.split(
            separator: "/", maxSplits: 1, omittingEmptySubsequences: false
        ).dropFirst().first?.split(separator: "/", omittingEmptySubsequences: false).last
        guard let name, !name.isEmpty, name != ".", name != ".." else {
            throw Failure(.usage, "-O: the URL '\(url)' has no file name", hint: "name the file with -o FILE")
        }
        output = SystemPath.text(name.utf8)
    }

    fileprivate static func range(_ text: String) throws(UsageError) -> Field {
        let isRange = text.contains("-") && text.utf8.allSatisfy { 0x30...0x39 ~= $0 || $0 == 0x2D || $0 == 0x2C }
        guard isRange else { throw UsageError("--range takes FIRST-LAST, FIRST- or -COUNT, not '\(text)'") }
        return Field("Range", "bytes=\(text)")
    }

    fileprivate static func text(_ value: String, of option: String) throws(UsageError) -> String {
        guard !value.isEmpty else { throw UsageError("the value of \(option) is empty") }
        return value
    }
}

extension Option where Arguments == RequestArguments {
    /// The options that have a parameter or a field of their own, under curl's names.
    static var ofCurl: [Option] {
        [
            Option(
                "--user-agent", short: "A", takes: "NAME", "the field User-Agent",
                read: { text throws(UsageError) in try RequestArguments.text(text, of: "--user-agent") }
            ) { $0.headers.append(.field(RequestArguments.Field("User-Agent", $1))) },
            Option(
                "--referer", short: "e", takes: "URL", "the field Referer",
                read: { text throws(UsageError) in try RequestArguments.text(text, of: "--referer") }
            ) { $0.headers.append(.field(RequestArguments.Field("Referer", $1))) },
            Option(
                "--range", short: "r", takes: "RANGE", "request these bytes: FIRST-LAST, FIRST- or -COUNT",
                read: RequestArguments.range
            ) { $0.headers.append(.field($1)) },
            Option(
                "--query", takes: "NAME=VALUE", "add to the URL's query, percent-encoded; may be repeated",
                read: QueryItem.init
            ) { $0.queries.append($1) },
            Option(
                "--max-time", short: "m", takes: "TIME", "like --timeout",
                read: { text throws(UsageError) in try TimeSpan.timeout(text, of: "--max-time") }
            ) { $0.timeoutMilliseconds = $1 },
            Option(
                "--connect-timeout", takes: "TIME", "the timeout of resolving, connecting and TLS",
                read: { text throws(UsageError) in try TimeSpan.timeout(text, of: "--connect-timeout") }
            ) { $0.connectMilliseconds = $1 },
            Option("--compressed", "request and decode compressed bodies (the default, except with -r)") {
                $0.asksForCoding = true
            },
            Option("--no-buffer", short: "N", "print the body while it arrives (the default)") { _ in },
            Option("--show-error", short: "S", "print errors also with -s (always done)") { _ in },
        ]
    }

    /// `--head` of `get`.
    static var head: Option {
        Option("--head", short: "I", "fetch the status and the header alone, as 'carpool head'") {
            $0.method = "HEAD"
            $0.printsHead = true
        }
    }

    /// `--remote-name` of `get`.
    static var remoteName: Option {
        Option("--remote-name", short: "O", "write the body to a file with the name of the URL's last segment") {
            $0.usesRemoteName = true
        }
    }
}
