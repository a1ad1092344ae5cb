internal import CarpoolJSON

/// `client.*`: the connections to the daemon.
enum ClientMethods {
    static let all: [Method] = [hello, list, disconnect]

    private static let hello = Method(
        "client.hello", role: .observe, "Names the client, and returns the daemon's capabilities and limits.",
        """
        Optional, and may be repeated. Without it a client uses protocol 1 and the default limits. Quotas, fairness, keys and \
        `scope: mine` are per user and client name, so they survive a connection. All connections without a name from processes \
        of one session (setsid(2): a terminal, a service, a cron job) of a user count as one client. A call that fails changes \
        nothing.
        """,
        params: [
            .optional(
                "name", .string(maxBytes: 64),
                "The client's name, at least 1 byte. Without one, quotas are per session, and lists show the executable's name."
            ),
            .optional("version", .string(maxBytes: 64), "The client's version, for `client.list`."),
            .optional(
                "protocol", .array(of: .integer, count: 1...16), "The protocol versions that the client supports.",
                default: "[1]"),
            .optional(
                "required", .array(of: .string(maxBytes: 64), count: 0...64),
                "Capabilities that the client needs; the call fails without them.", default: "[]"),
            .optional(
                "optional", .array(of: .string(maxBytes: 64), count: 0...64),
                "Capabilities that the client would use; the answer says which are supported.", default: "[]"),
            .optional(
                "max_line_bytes", .integer(65_536...8_388_608),
                "The longest line that the client reads. It decides how large an inline body may be, up to 1 MiB.",
                default: "65536"),
            .optional(
                "callbacks", .array(of: .callbackName, count: 0...64),
                """
                Names of callbacks that it answers on this connection, for requests whose own connection does not; they \
                replace those that it gave before. Default: no change.
                """),
        ],
        result: .answer([
            .required("protocol", .integer, "The protocol version in use."),
            .required("server", .server, "The daemon."),
            .required("client", .string, "The name of this connection."),
            .required(
                "peer",
                .answer([
                    .required("uid", .count, "The client's user (SO_PEERCRED)."),
                    .required(
                        "pid", .integer, "The process id, as reported by the kernel; for users, as ids are reused."),
                    .required("role", .choice("observe", "submit", "admin"), "What the client may do."),
                    .required("name", .string, "The client's name, or that of its executable."),
                    .required(
                        "identity", .string,
                        "The identity for quotas, keys and `scope: mine`: `name:`, `session:` or `program:`, and its value."
                    ),
                ]), "The client as the daemon sees it."),
            .required(
                "capabilities", .map(of: .boolean),
                "Whether each capability is supported: those of the daemon, and those in the call."),
            .required("limits", .limits, "The daemon's limits, as in `daemon.config`."),
            .required("cursor", .string, "The current position in the stream of events."),
        ]),
        errors: [.versionNotSupported, .capabilityMissing],
        examples: [
            .init(
                "a tool", params: #"{"name":"nightly-report","version":"2.1","protocol":[1],"optional":["events"]}"#,
                result: """
                    {"protocol":1,"server":{"name":"carpoold","version":"0.1.0","pid":4711,"epoch":"k3f9"},"client":"c-17",\
                    "peer":{"uid":1000,"pid":5012,"role":"admin","name":"nightly-report","identity":"name:nightly-report"},"capabilities":{"events":true},\
                    "limits":{"message_bytes":1048576},"cursor":"k3f9.10442"}
                    """)
        ])

    private static let list = Method(
        "client.list", role: .observe, "Lists the connections to the daemon.",
        """
        Shows which client floods the daemon or does not read its answers. An administrator sees all connections, other users \
        their own. A page has at most `limit` connections, and fewer if the line would be too long; while `next` is not null, \
        call again with it.
        """,
        params: [
            .optional("limit", .integer(1...1_000), "The most entries of a page.", default: "100"),
            .optional("next", .string(maxBytes: 64), "`next` of the previous page."),
        ],
        result: .answer([
            .required(
                "clients",
                .array(
                    of: .answer([
                        .required("client", .string, "The connection's name."),
                        .required("name", .string, "The client's name, or that of its executable."),
                        .required("identity", .string, "The identity for quotas, as in `client.hello`."),
                        .optional("version", .string, "The client's version, if it named one."),
                        .required("uid", .count, "The user."),
                        .required("pid", .integer, "The process."),
                        .required("role", .choice("observe", "submit", "admin"), "What the client may do."),
                        .required("connected", .time, "The time of the connection."),
                        .required("messages", .count, "The number of messages received from it."),
                        .required("calls_in_flight", .count, "Calls that are not answered yet."),
                        .required("subscriptions", .count, "Live subscriptions."),
                        .required("callbacks", .array(of: .callbackName), "Names of callbacks that it answers."),
                        .required("unread_bytes", .count, "Output that the client has not read."),
                    ])), "Oldest first."),
            .required("next", .string.nullable, "For the next page; null on the last."),
        ]),
        examples: [
            .init(
                "one client",
                result: """
                    {"clients":[{"client":"c-17","name":"nightly-report","identity":"name:nightly-report","uid":1000,"pid":5012,"role":"admin",\
                    "connected":"2026-09-30T10:00:00.123456Z","messages":12,"calls_in_flight":1,"subscriptions":0,\
                    "callbacks":["sign"],"unread_bytes":0}],"next":null}
                    """)
        ])

    private static let disconnect = Method(
        "client.disconnect", role: .admin, "Closes a connection.",
        """
        Answers that are written already are still sent. Requests that end with their connection are cancelled, as if the \
        client had closed it. The client may connect again; to exclude a user, change the configuration.
        """,
        params: [.required("client", .string(maxBytes: 64), "The connection's name, from `client.list`.")],
        result: .stateChange, errors: [.clientNotFound],
        examples: [
            .init(
                "a client that does not read", params: #"{"client":"${client}"}"#,
                result: #"{"changed":true,"state":"disconnected"}"#)
        ])
}
