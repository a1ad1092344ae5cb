internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolExchange
internal import CarpoolRPC
internal import CarpoolSystem

/// The arguments of a request.
struct RequestArguments: CommandArguments {
    /// The pieces in which the body is printed, each as soon as it is complete.
    enum Streaming: String {
        case lines
        case events = "sse"
    }

    /// When JSON is laid out for people.
    enum Layout: String, CaseIterable {
        case onTerminal = "auto"
        case always
        case never
    }

    /// A header field.
    struct Field: Equatable {
        let name: String
        let value: String

        init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }

        /// Reads `NAME: VALUE`; `nil` if the line is something else.
        init?(line: some StringProtocol) {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            self.init(String(line[..<colon]), String(value))
        }
    }

    /// The value of `-H`.
    enum Header: Equatable {
        case field(Field)
        /// A file with one field a line; `-` for standard input. Other users can see arguments, but not files.
        case file(String)
    }

    /// The value of a parameter that is a count or a size.
    struct Count: Equatable {
        let parameter: String
        let value: Int
    }

    var url = ""
    /// The URLs after the first one.
    var moreURLs: [String] = []
    /// A file with more URLs, `-` for standard input; `nil` for none.
    var inputFile: String?
    /// How many requests run at once.
    var parallel = 1
    /// Whether the first failure ends the command.
    var failsEarly = false
    var method: String
    var headers: [Header] = []
    var body: BodyArgument.Source?
    var isJSON = false
    /// `nil` for standard output.
    var output: String?
    /// Whether the output has the name of the URL's last segment.
    var usesRemoteName = false
    /// What `--query` adds to the URL.
    var queries: [QueryItem] = []
    /// Whether an interrupted download to the output is resumed.
    var resumes = false
    /// `nil` for the bytes.
    var streaming: Streaming?
    /// Whether the body is printed only once all of it has arrived.
    var isWhole = false
    /// Whether the body is printed as it is while it arrives, also on a terminal.
    var isRawStream = false
    /// When JSON is laid out for people.
    var layout = Layout.onTerminal
    var isSilent = false
    var printsHead = false
    var failsOnStatus = false
    /// When it is sent again.
    var retry = RetryOptions()
    var timeoutMilliseconds: Int?
    /// `nil` for the session's.
    var connectMilliseconds: Int?
    /// `nil` for the session's.
    var priority: String?
    var session: String?
    var trust = TrustArguments()
    var connection = ConnectionArguments()
    var credential = CredentialArguments()
    var oauth2 = OAuth2Arguments()
    var cookies = CookieArguments()
    var cache = CachePolicyArguments()
    var proxy = ProxyArguments()
    var followsRedirects = true
    /// The maximum number of redirects; `nil` for the session's.
    var maximumRedirects: Int?
    /// Whether compressed bytes are requested also with a range.
    var asksForCoding = false
    var httpVersion: String?
    /// Values of the parameters that are declared with an option.
    var counts: [Count] = []
    var isVerbose = false
    /// Whether a command line of curl is printed, and nothing sent.
    var isDryRun = false
    /// The place of the URL among several.
    var urlNumber = 0
    /// Whether it is one of several requests of the command.
    var isOneOfSeveral = false
    /// What is printed at the end; `nil` for nothing.
    var writeOut: WriteOut?
    var socket: String?

    init(method: String) { self.method = method }

    /// Whether ``readIdentity()`` or ``readPassword()`` has anything to do.
    var readsIdentity: Bool { credential.netrc != nil || credential.user != nil || cookies.hasJar }

    /// Whether a file of an option has to be read here.
    var needsCallerFiles: Bool {
        trust.needsCallerFiles || connection.needsCallerFiles || oauth2.needsFile || writeOut?.needsFile == true
    }

    /// Reads the files of options that the daemon does not open. A pipe is read once, for all URLs.
    mutating func readCallerFiles() throws(Failure) {
        try trust.readCallerFiles()
        try connection.readCallerFiles()
        try oauth2.readFile()
        try writeOut?.readFile()
    }

    /// Asks the user for the password that the command line does not have.
    mutating func readPassword() throws(Failure) { try credential.readPassword() }

    /// Reads the files with the identity of the request: `.netrc`, cookies.
    mutating func readIdentity() throws(Failure) {
        try credential.readNetrc(for: url, followsRedirects: followsRedirects)
        if let own = credential.logins?.url { url = own }
        // As in curl, --user takes precedence over the user of the URL.
        if credential.user != nil, url.contains("@"), let authority = URLAuthority(url) {
            url = authority.urlWithoutUser
        }
        try cookies.readFiles()
    }
}

// The options. A new one is declared here, and RequestWriter sends it.
extension Option where Arguments == RequestArguments {
    static var method: Option {
        Option("--request", short: "X", takes: "METHOD", "the method to send instead of the command's") {
            $0.method = $1
        }
    }

    static var header: Option {
        Option(
            "--header", short: "H", takes: "'NAME: VALUE'",
            "a header field, or @FILE with one a line (@-: standard input)", read: RequestArguments.header
        ) { $0.headers.append($1) }
    }

    static var session: Option {
        Option("--session", takes: "NAME", "the session of the daemon (default: 'default')") { $0.session = $1 }
    }

    static var output: Option {
        Option(
            "--output", short: "o", takesNonEmpty: "FILE",
            "write the body to FILE, which is replaced once it is complete"
        ) { $0.output = $1 == "-" ? nil : $1 }
    }

    static var resume: Option {
        Option(
            "--continue-at", short: "C", takes: "-", "resume an interrupted download to FILE",
            apply: RequestArguments.setResume)
    }

    /// The options of commands that send a body.
    static var body: [Option] {
        [
            Option(
                "--data", short: "d", takes: "DATA", "the body: DATA, @FILE, or @- for standard input",
                apply: RequestArguments.setData),
            Option(
                "--json", takes: "DATA", "like -d, with Content-Type and Accept application/json",
                apply: RequestArguments.setJSON),
            Option(
                "--upload-file", short: "T", takes: "FILE", "the body: FILE, or - for standard input while it is read",
                apply: RequestArguments.setUpload),
            Option(
                "--form", short: "F", takes: "'NAME=VALUE'", "a part of a form, or NAME=@FILE; may be repeated",
                apply: RequestArguments.addPart),
        ]
    }

    /// The options of commands whose response has a body.
    static var streams: [Option] {
        [
            Option("--whole", "print the body only once all of it has arrived") { $0.isWhole = true },
            Option("--stream", "print the body as it is while it arrives, also on a terminal") {
                $0.isRawStream = true
            },
            Option(
                "--pretty", takes: "WHEN", "lay out JSON for people: auto (on a terminal), always or never",
                read: RequestArguments.layout
            ) { $0.layout = $1 },
            Option("--lines", "print the body while it arrives, in whole lines") { (arguments, _) throws(UsageError) in
                try arguments.setStreaming(.lines)
            },
            Option("--sse", "print the events of an event stream, each as a line of JSON") {
                (arguments, _) throws(UsageError) in try arguments.setStreaming(.events)
            },
        ]
    }

    /// A command's own options, and those of every request. Group by group: a chain of `+` would copy the first groups
    /// again with each further one.
    static func ofRequest(_ own: [Option]) -> [Option] {
        var options = own
        options.reserveCapacity(96)
        options += beforeSending
        options += retries
        options += trust
        options += ofCurl
        options += ofConnection
        options += certificate
        options += tls
        options += addresses
        options += credential
        options += netrc
        options += oauth2
        options += cookies
        options += cache
        options += proxy
        options += ofParameters
        options += ofReport
        return options
    }

    private static var beforeSending: [Option] {
        [
            Option("--include", short: "i", "print the response's status and header before the body") {
                $0.printsHead = true
            },
            Option("--fail", short: "f", "for a status of 400 or more print no body and exit with 5") {
                $0.failsOnStatus = true
            },
            Option(
                "--timeout", takes: "TIME", "the timeout: seconds such as 2.5, or a span such as 500ms, 10s or 2m",
                read: TimeSpan.milliseconds
            ) { $0.timeoutMilliseconds = $1 },
            Option(
                "--priority", takes: "PRIORITY", "high, normal or low, among the requests that wait for the host",
                read: RequestArguments.priority
            ) { $0.priority = $1 },
            session,
        ]
    }

    /// The options of cookies.
    private static var cookies: [Option] {
        [
            Option(
                "--cookie", short: "b", takes: "DATA",
                "cookies as NAME=VALUE; ..., or the name of a file of cookies; may be repeated"
            ) { (arguments, value) in
                if value.contains("=") { VisibleArguments.hide(value) }
                arguments.cookies.add(value)
            },
            Option(
                "--cookie-jar", short: "c", takes: "FILE",
                "write the cookies to FILE at the end, or with - to standard output", read: RequestArguments.jar
            ) { $0.cookies.jar = $1 },
            Option("--junk-session-cookies", short: "j", "read no cookies without an expiry date from files") {
                $0.cookies.dropsSessionCookies = true
            },
        ]
    }

    /// The options of the cache.
    private static var cache: [Option] {
        [
            Option("--cache", takes: "POLICY", "how stored responses are used, such as no_store or reload_revalidating")
            {
                (arguments, value) throws(UsageError) in try arguments.cache.setPolicy(value)
            },
            Option(
                "--ttl", takes: "SPAN", "store the response as fresh for SPAN: 90s, 10m, 2h or 7d",
                read: { text throws(UsageError) in try TimeSpan.span(text, of: "--ttl") }
            ) { $0.cache.ttlMilliseconds = $1 },
            Option("--offline", "use a stored response of any age, or fail; ask no server") {
                (arguments, _) throws(UsageError) in try arguments.cache.setOffline()
            },
        ]
    }

    private static var ofConnection: [Option] {
        [
            Option("--location", short: "L", "follow redirects (the default)") { $0.followsRedirects = true },
            Option("--no-location", "do not follow redirects") { $0.followsRedirects = false },
            Option("--max-redirs", takes: "N", "follow up to N redirects (default: 16)") {
                (arguments, text) throws(UsageError) in
                arguments.maximumRedirects = try RequestArguments.redirects(text)
            },
            Option("--http1.1", "use HTTP/1.1") { $0.httpVersion = "1.1" },
            Option("--http2", "use HTTP/2 if the server supports it") { $0.httpVersion = "2" },
        ]
    }

    /// The options that are declared with their parameters.
    private static var ofParameters: [Option] { [Option(.maximumBodyBytes)] }

    private static var ofReport: [Option] {
        [
            Option("--silent", short: "s", "do not show the progress") { $0.isSilent = true },
            Option("--verbose", short: "v", "print the fields, the connection and the times to standard error") {
                $0.isVerbose = true
            },
            Option(
                "--write-out", short: "w", takes: "TEXT",
                "print TEXT at the end, as curl's -w: '%{http_code}\\n', or @FILE"
            ) { (arguments, text) throws(UsageError) in arguments.writeOut = try WriteOut(text) },
            Option(
                "--input-file", takesNonEmpty: "FILE", "request the URLs in FILE too, one a line (-: standard input)"
            ) {
                $0.inputFile = $1
            },
            Option("--parallel", takes: "N", "run up to N requests at once (1 to 64)", read: RequestArguments.parallel)
            {
                $0.parallel = $1
            },
            Option("--fail-early", "end with the first of several requests that fails") { $0.failsEarly = true },
            Option("--dry-run", "print the request as a command line of curl, and send nothing") { $0.isDryRun = true },
            .socket, .help,
        ]
    }

    /// An option whose value is sent as it is.
    private init(_ option: CommandOption) {
        self.init(
            option.long, takes: option.placeholder, option.summary,
            read: { text throws(UsageError) in try RequestArguments.count(text, of: option) }
        ) { $0.counts.append(RequestArguments.Count(parameter: option.parameterName.description, value: $1)) }
    }
}
