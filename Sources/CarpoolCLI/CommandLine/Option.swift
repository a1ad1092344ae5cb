/// An option of the command line. One table for the parser, the help and the pages.
enum Option: CaseIterable, Equatable {
    case method, header, data, json, upload, form, output, resume, stream, lines, events
    case include, fail, retry, timeout, priority, session, certificates, insecure
    case follow, noFollow, http1, http2, silent, verbose
    case scope, since, state, snapshot, count, pretty, fresh, watch, asJSON
    case socket, help, version

    /// How it is written and what it means.
    struct Specification {
        let long: String
        let short: Character?
        /// What stands for the value in the help; `nil` if it takes none.
        let placeholder: String?
        let summary: String

        init(_ long: String, short: Character? = nil, takes placeholder: String? = nil, _ summary: String) {
            self.long = long
            self.short = short
            self.placeholder = placeholder
            self.summary = summary
        }
    }

    var specification: Specification {
        switch self {
        case .method:
            Specification("--request", short: "X", takes: "METHOD", "the method to send instead of the command's")
        case .header:
            Specification(
                "--header", short: "H", takes: "'NAME: VALUE'",
                "a header field; @FILE: one a line, @-: from standard input")
        case .data:
            Specification("--data", short: "d", takes: "DATA", "the body: DATA, @FILE, or @- for standard input")
        case .json: Specification("--json", takes: "DATA", "the same, sent and accepted as application/json")
        case .upload:
            Specification("--upload-file", short: "T", takes: "FILE", "the body: FILE, or - to send what comes in")
        case .form:
            Specification(
                "--form", short: "F", takes: "'NAME=VALUE'", "a part of a form, or NAME=@FILE; may be repeated")
        case .output:
            Specification("--output", short: "o", takes: "FILE", "write to FILE, replaced only when all is there")
        case .resume:
            Specification("--continue-at", short: "C", takes: "-", "go on with the download to FILE that broke off")
        case .stream: Specification("--stream", "print the body while it comes")
        case .lines: Specification("--lines", "print it while it comes, in whole lines")
        case .events: Specification("--sse", "print the events of an event stream, each as a line of JSON")
        case .include: Specification("--include", short: "i", "print the response's status and header before the body")
        case .fail: Specification("--fail", short: "f", "for a status of 400 or more print no body and exit with 5")
        case .retry:
            Specification("--retry", takes: "N", "send what may pass and may be repeated up to N times again")
        case .timeout: Specification("--timeout", takes: "SECONDS", "give up after so long (decimals are fine)")
        case .priority:
            Specification(
                "--priority", takes: "PRIORITY", "high, normal or low: its turn among what waits for the host")
        case .session: Specification("--session", takes: "NAME", "use this session of the daemon, not 'default'")
        case .certificates: Specification("--cacert", takes: "FILE", "trust the certificates in FILE, and no others")
        case .insecure: Specification("--insecure", short: "k", "do not verify the server's certificate")
        case .follow: Specification("--location", short: "L", "follow redirects, as is done anyway")
        case .noFollow: Specification("--no-location", "do not follow redirects")
        case .http1: Specification("--http1.1", "speak HTTP/1.1")
        case .http2: Specification("--http2", "speak HTTP/2 where the server does")
        case .silent: Specification("--silent", short: "s", "show no progress of downloads")
        case .verbose: Specification("--verbose", short: "v", "print connection and times to standard error")
        case .scope:
            Specification("--scope", takes: "SCOPE", "whose events: all (the default), mine, or session:NAME")
        case .since: Specification("--since", takes: "CURSOR", "begin behind the event that has this cursor")
        case .state: Specification("--state", takes: "FILE", "keep the cursor in FILE, and go on from there")
        case .snapshot: Specification("--snapshot", "say first how things stand")
        case .count: Specification("--count", short: "n", takes: "N", "end after N events")
        case .pretty: Specification("--pretty", "print lines for people instead of JSON")
        case .fresh: Specification("--fresh", "ask the interfaces first, and look again")
        case .watch: Specification("--watch", short: "w", "go on, and print every change")
        case .asJSON: Specification("--json", "print JSON on a terminal too")
        case .socket: Specification("--socket", takes: "PATH", "the daemon's socket; none is started there unasked")
        case .help: Specification("--help", short: "h", "print the help of the command")
        case .version: Specification("--version", short: "V", "print the version")
        }
    }
}
