internal import CarpoolJSON

// Schemas that several methods have in common.
extension JSONSchema {
    /// An object of an answer. A later version may add members: read those you know, ignore the rest.
    static func answer(_ members: [Member]) -> JSONSchema { .object(members, additional: .later) }

    /// The answer of calls that change a state.
    static let stateChange = JSONSchema.named(
        "StateChange",
        .answer([
            .required("changed", .boolean, "Whether the call changed anything; a repetition answers false."),
            .required("state", .string, "The state afterwards."),
        ]))

    /// A time.
    static let time = JSONSchema.named(
        "Time", .string.described("RFC 3339 in UTC with microseconds, like `2026-09-30T10:00:00.123456Z`."))

    /// A duration that a caller sets, in milliseconds: up to 30 days.
    static let duration = JSONSchema.integer(1...2_592_000_000)

    /// A count or a size.
    static let count = JSONSchema.integer(0...Int64.max)

    /// A header's name or value, which need not be UTF-8.
    static let text = JSONSchema.named(
        "Text", .oneOf(.string, .object([.required("base64", .string, "The bytes, if they are not UTF-8.")])))

    /// Header fields of a request.
    static let headers = JSONSchema.named(
        "Headers",
        .oneOf(
            .map(of: .oneOf(.string, .array(of: .string, count: 0...100)), maxCount: 1_000)
                .described("By name; a list of values makes several fields."),
            .array(of: .array(of: .string, count: 2...2), count: 0...1_000)
                .described("`[name, value]` in order, as they are sent.")))

    /// The versions and ciphers of TLS.
    static let tls = JSONSchema.named(
        "TLS",
        .object([
            .optional("min_version", tlsVersion, "The oldest version that is accepted.", default: "\"1.2\""),
            .optional("max_version", tlsVersion, "The newest version that is offered.", default: "\"1.3\""),
            .optional(
                "ciphers", .string(maxBytes: 1_000),
                """
                The ciphers of TLS 1.2 and older, as OpenSSL's `ciphers` command takes them, such as `ECDHE+AESGCM`. TLS 1.0 and \
                1.1, and certificates with weak keys, require `DEFAULT@SECLEVEL=0`.
                """),
            .optional(
                "tls13_ciphers", .string(maxBytes: 1_000), "The cipher suites of TLS 1.3, separated by colons."),
        ]))
    private static let tlsVersion = JSONSchema.choice("1.0", "1.1", "1.2", "1.3")

    /// How hosts are reached.
    static let addresses = JSONSchema.named(
        "Addresses",
        .object([
            .optional(
                "resolve", .array(of: .string(maxBytes: 1_024), count: 0...64),
                """
                Addresses of hosts, in place of those of their names: `host:port:address[,address]`, as curl's `--resolve`. \
                The host `*` is every host without an entry of its own. Of several entries for a host and port the last one counts.
                """),
            .optional(
                "connect_to", .array(of: .string(maxBytes: 1_024), count: 0...64),
                """
                Other hosts to connect to: `host:port:other-host:other-port`, as curl's `--connect-to`. The request, its \
                `Host` and the check of the certificate keep the URL's host. An empty host or port stands for every one, or \
                for the URL's.
                """),
            .optional("interface", .string(maxBytes: 15), "The network interface of connections, such as `eth1`."),
            .optional("local_address", .string(maxBytes: 45), "The local IP address that connections use."),
            .optional("family", .choice("ipv4", "ipv6"), "The only family of addresses that is used."),
            .optional(
                "unix_socket",
                .oneOf(
                    .string(maxBytes: 4_096).described("The path of a Unix socket."),
                    .object([
                        .required(
                            "fd", .integer(0...15),
                            "A connected stream socket that comes with the line, by its place. For one connection of a request."
                        )
                    ])),
                "The Unix socket to which every connection is made, whatever the URL's host."),
        ]))

    /// The versions of HTTP.
    static let httpVersion = JSONSchema.choice("auto", "1.1", "2")
    /// The handling of characters that are invalid in a URL.
    static let urlEncoding = JSONSchema.choice("percent", "as_is", "exact").described(
        """
        `percent`: they are percent-encoded, as Foundation does it. `as_is`: they are sent as they were given, as curl does \
        it; a blank is refused. `exact`: the same, and the segments `.` and `..` of the path stay.
        """)

    /// When a request starts.
    static let start = JSONSchema.choice("immediate", "manual")
    /// The order among waiting requests.
    static let priority = JSONSchema.choice("high", "normal", "low")
    /// When the request to send is made.
    static let setup = JSONSchema.choice("lazy", "eager")

    /// The name of a session.
    static let sessionName = JSONSchema.string(maxBytes: 64)

    /// The name of a request.
    static let requestName = JSONSchema.string(maxBytes: 64)

    /// The identity of the daemon.
    static let server = JSONSchema.named(
        "Server",
        .answer([
            .required("name", .string, "`carpoold`."),
            .required("version", .string, "The daemon's version."),
            .required("pid", .integer, "Its process."),
            .required("epoch", .string, "The name of this run of the daemon; it changes with a restart."),
        ]))

    /// The daemon's limits by name.
    static let limits = JSONSchema.named("Limits", .map(of: .integer))
}

extension JSONSchema.Member {
    /// The request of a call.
    static let request = JSONSchema.Member.required(
        "request", .requestName, "The request's name, from `request.submit`.")
}
