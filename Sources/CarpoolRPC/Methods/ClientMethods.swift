internal import CarpoolJSON

/// `client.*`: who is connected.
enum ClientMethods {
    static let all: [Method] = [hello, list, disconnect]

    private static let hello = Method(
        "client.hello", role: .observe, "Introduces the client, and tells what the daemon can do.",
        """
        Optional, and may be repeated. Without it a client speaks protocol 1 and has the default limits. The name matters: \
        quotas, fairness, keys and `scope: mine` go by user and name, so they outlive a connection. All connections without a \
        name that processes of one session (setsid(2): a terminal, a service, a cron job) of a user have made are one client. \
        Nothing is changed if the call fails.
        """,
        params: [
            .optional(
                "name", .string(maxBytes: 64),
                "What the client is called, 1 byte at least. Absent: quotas go by its session, and people see its executable's name."
            ),
            .optional("version", .string(maxBytes: 64), "Its version, for `client.list`."),
            .optional("protocol", .array(of: .integer, count: 1...16), "The versions that it speaks.", default: "[1]"),
            .optional(
                "required", .array(of: .string(maxBytes: 64), count: 0...64),
                "Capabilities without which it cannot go on.", default: "[]"),
            .optional(
                "optional", .array(of: .string(maxBytes: 64), count: 0...64),
                "Capabilities that it would use; the answer says which are there.", default: "[]"),
            .optional(
                "max_line_bytes", .integer(65_536...8_388_608),
                "The longest line that it reads. Larger bodies then come inline, up to 1 MiB.", default: "65536"),
            .optional(
                "callbacks", .array(of: .callbackName, count: 0...64),
                """
                Names of callbacks that it answers on this connection, for requests whose own connection does not; they \
                replace those that it gave before. Absent: those stay.
                """),
        ],
        result: .answer([
            .required("protocol", .integer, "The version that is spoken."),
            .required("server", .server, "The daemon."),
            .required("client", .string, "The name of this connection."),
            .required(
                "peer",
                .answer([
                    .required("uid", .count, "The user, as the kernel says."),
                    .required(
                        "pid", .integer, "The process, as the kernel says; for people, since numbers are used again."),
                    .required("role", .choice("observe", "submit", "admin"), "What it may do."),
                    .required("name", .string, "Its name, or that of its executable."),
                    .required(
                        "identity", .string,
                        "As whom it counts for quotas, keys and `scope: mine`: `name:`, `session:` or `program:` and which."
                    ),
                ]), "The client as the daemon sees it."),
            .required("capabilities", .map(of: .boolean), "What is there, by name, and what was asked for and is not."),
            .required("limits", .limits, "The daemon's limits, as in `daemon.config`."),
            .required("cursor", .string, "Where the stream of events stands."),
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
        The first thing to look at when something floods the daemon or does not read its answers. An administrator sees all of \
        them, others those of their own user. A page holds at most `limit` of them, and fewer where the line would be too long; while `next` \
        is not null, call again with it.
        """,
        params: [
            .optional("limit", .integer(1...1_000), "The most on a page.", default: "100"),
            .optional("next", .string(maxBytes: 64), "Where the last page ended."),
        ],
        result: .answer([
            .required(
                "clients",
                .array(
                    of: .answer([
                        .required("client", .string, "The connection's name."),
                        .required("name", .string, "The client's name, or that of its executable."),
                        .required("identity", .string, "As whom it counts, as in `client.hello`."),
                        .optional("version", .string, "Its version, if it told."),
                        .required("uid", .count, "The user."),
                        .required("pid", .integer, "The process."),
                        .required("role", .choice("observe", "submit", "admin"), "What it may do."),
                        .required("connected", .time, "Since when."),
                        .required("messages", .count, "How many messages it has sent."),
                        .required("calls_in_flight", .count, "Calls that are not answered yet."),
                        .required("subscriptions", .count, "Live subscriptions."),
                        .required("callbacks", .array(of: .callbackName), "Names of callbacks that it answers."),
                        .required("unread_bytes", .count, "Output that it has not read."),
                    ])), "In the order in which they came."),
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
        client had closed it. It may connect again: to keep a user out, change the configuration.
        """,
        params: [.required("client", .string(maxBytes: 64), "The connection's name, from `client.list`.")],
        result: .stateChange, errors: [.clientNotFound],
        examples: [
            .init(
                "a client that does not read", params: #"{"client":"${client}"}"#,
                result: #"{"changed":true,"state":"disconnected"}"#)
        ])
}
