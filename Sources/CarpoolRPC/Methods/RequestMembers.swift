internal import CarpoolJSON

/// The parameters that `request.submit` and `request.perform` share.
enum RequestMembers {
    /// All of them, in the order in which an array gives them.
    static func all(onDisconnect: StaticString) -> [JSONSchema.Member] {
        [
            .required("url", .string(maxBytes: 65_536), "An absolute URL, `http` or `https`."),
            .optional(
                "method", .string(maxBytes: 64), "Any method of HTTP but CONNECT. Absent: GET, for an upload POST."),
            .optional(
                "headers", .headers,
                "Header fields, in order. `Host`, `Content-Length` and the fields of a connection are the daemon's own."
            ),
            .optional("body", .requestBody, "What is sent. Absent: nothing."),
            .optional(
                "expect_continue", .boolean,
                "Whether the server is asked if it wants the body before it is sent; costs a round trip, or a second where the server does not answer.",
                absent: "false"),
        ] + JSONSchema.parameterMembers + [
            .optional("session", .sessionName, "The session that it belongs to.", absent: "\"default\""),
            .optional(
                "kind", .choice("data", "upload", "download", "stream"),
                """
                `data`: the response's body is kept in the record. `upload`: the same, with the events of uploads. `download`: it \
                goes to a file. `stream`: it goes to whoever reads it, as it comes: see `request.read` and `request.attach`. \
                Absent: `upload` if the body is made or given while it is sent, else `data`.
                """),
        ] + JSONSchema.downloadMembers + [stream] + life + handling + transfer + responseBody + [
            events,
            .optional(
                "on_disconnect", .choice("cancel", "detach"),
                "What becomes of it when its caller's connection is lost.",
                absent: onDisconnect),
            .optional(
                "key", .string(maxBytes: 256),
                "The caller's own name for it. The same key again, with the same parameters, gives the same request."),
            .optional(
                "tags", .map(of: .string(maxBytes: 128), maxCount: 8), "Labels for `request.list`.", absent: "{}"),
        ]
    }

    /// Who hears of it.
    private static let events = JSONSchema.Member.optional(
        "events",
        .object([
            .types,
            .optional(
                "progress_interval_ms", .progressInterval, "The least time between two steps of its progress.",
                absent: "0"),
        ]),
        """
        Has this request's events sent on this connection, from the first to the last, and then `subscription.closed`; the \
        answer says which subscription it is. Those of `request.submit` come after its answer, those of `request.perform` \
        before. Absent: none.
        """)

    /// What becomes of the response's body.
    private static let responseBody: [JSONSchema.Member] = [
        .optional(
            "response_body", .choice("auto", "inline", "file"),
            """
            `auto`: inline if it fits the line, else a file. `inline`: the same, for callers without a file system: \
            read a larger one with `body.read`. `file`: always a file.
            """, absent: "\"auto\""),
        .optional(
            "sha256", .boolean,
            "Whether the record has the SHA-256 of the body: of the bytes that it tells, or of the file.",
            absent: "false"),
    ]

    /// When it goes.
    private static let life: [JSONSchema.Member] = [
        .optional(
            "start", .start, "`immediate`: at once. `manual`: with `request.resume`. Absent: as the session says."),
        .optional(
            "setup", .setup,
            "`lazy`: the request to send is made when it starts. `eager`: at once, adapters included. Absent: as the session says."
        ),
        .optional(
            "hold_for_headers", .boolean,
            """
            The answer comes with the headers, and the body waits: `request.resume` lets it come, `request.cancel` ends \
            the request, `request.wait` gives the whole. For the first attempt only.
            """, absent: "false"),
    ]

    /// Whether it ends early.
    private static let stream = JSONSchema.Member.optional(
        "cancel_on_stream_error", .boolean,
        "For `stream`: whether the first failure of a reader, such as a line that is not JSON, cancels the request.",
        absent: "false")

    /// What is done with the request and its response; the session's interceptor comes before the request's.
    private static let handling: [JSONSchema.Member] = [
        .optional("interceptor", .interceptor, "Adapters and retriers, in order, behind the session's."),
        .optional("validate", .validation, "What an acceptable response is. Absent: as the session says."),
        .optional("serialize", .serialization, "What is made of the body. Absent: nothing, the body is told as it is."),
    ]

    /// What the session has too; absent means as in the session.
    private static let transfer: [JSONSchema.Member] = [
        .optional("trust", .trust, "How the server's certificate is judged. Absent: as the session says."),
        .optional(
            "timeout_ms", .duration,
            "The longest time without a byte in either direction. Absent: as the session says, else 60,000."),
        .optional(
            "resource_timeout_ms", .duration,
            "The longest time from start to end, waiting included. Absent: as the session says, else 7 days."),
        .optional(
            "queue_timeout_ms", .duration,
            """
            The longest time to wait for a turn, before anything is sent. Absent: no limit but `resource_timeout_ms`. \
            Over, the outcome is `session_task_failed.timed_out` with `queued`.
            """),
        .optional(
            "priority", .priority,
            """
            How soon it has its turn when others wait for the same origin: `high` before `normal` before `low`, but \
            each of the lower ones has some turns too.
            """, absent: "\"normal\""),
        .optional(
            "connect_timeout_ms", .duration,
            "The longest time to resolve, connect and agree on TLS. Absent: as the session says, else 60,000."),
        .optional(
            "waits_for_connectivity", .boolean,
            """
            Whether it waits for a way to the host where there is none, instead of failing with `not_connected_to_internet`. \
            Only `resource_timeout_ms` runs meanwhile. Absent: as the session says, else it does not wait.
            """),
        .optional("http_version", .httpVersion, "Which versions of HTTP are spoken. Absent: as the session says."),
        .optional(
            "url_encoding", .urlEncoding,
            "What is done with characters that a URL must not hold. Absent: as the session says, else `percent`."),
        .optional("redirect", .redirect, "What is done with redirects. Absent: as the session says."),
        .optional(
            "decode", .boolean,
            "Whether br, gzip and deflate are asked for, and what comes is decoded. Absent: as the session says."),
        .optional(
            "max_ratio", .integer(1...1_000_000),
            "The most decoded bytes per received byte, once more than 1 MiB is decoded. Absent: as the session says."),
    ]
}
