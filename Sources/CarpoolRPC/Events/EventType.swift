public import CarpoolJSON

/// One type of event: its name, when it comes, and what its `data` holds.
public struct EventType: Sendable {
    /// The name, `noun.did_verb`.
    public let name: StaticString
    /// When it comes, in a sentence.
    public let summary: String
    /// The members of `data`.
    public let data: [JSONSchema.Member]
    /// Its number in the session model, or its numbers; `nil` for what the model does not have.
    public let model: String?
    /// What `data` may be, as JSON.
    public let example: String

    init(_ name: StaticString, _ summary: String, _ data: [JSONSchema.Member] = []) {
        self.name = name
        self.summary = summary
        self.data = data
        (model, example) = EventExamples.all[name.description] ?? (nil, "{}")
    }

    private static let target: [JSONSchema.Member] = [
        .required("method", .string, "The request's method."),
        .required("url", .string, "Its URL, without a password."),
    ]
    private static let size: [JSONSchema.Member] = [.required("size_bytes", .count, "How many bytes this time.")]
    private static let uploaded: [JSONSchema.Member] = [
        .required("sent_bytes", .count, "How many so far."),
        .optional("total_bytes", .count, "Of how many; absent if nobody knows."),
    ]
    private static let total = JSONSchema.Member.optional(
        "total_bytes", .count, "How much the whole is; absent if the origin does not say.")
    private static let progress: [JSONSchema.Member] = [
        .required("received_bytes", .count, "How much is there."), total,
    ]
    private static let error = JSONSchema.Member.required("error", .requestError, "Why.")
    private static let taskError: [JSONSchema.Member] = [
        .optional("error", .string, "The name of the transport's error; absent if the response came whole.")
    ]
    private static let urlRequest: [JSONSchema.Member] =
        target + [
            .required(
                "headers", JSONSchema.pairs, "Its fields; secrets are shown only to the client that made it."),
            .optional("truncated", .constant(true), "There were more fields than fit the line."),
        ]
    private static let metrics: [JSONSchema.Member] = [
        .required("metrics", .array(of: JSONSchema.hop), "One for each hop, as in the record."),
        .optional("truncated", .constant(true), "There were more hops than fit the line; these are the last ones."),
    ]
    private static let connection: [JSONSchema.Member] = [
        .required("connection", .integer, "The connection's number, as in a hop's metrics."),
        .required("origin", .string, "Scheme, host and port."),
    ]

    /// All types that are sent.
    public static let all = steps + notifications + own

    private static let steps: [EventType] = [
        EventType("session.did_become_invalid", "A session was invalidated, and its last request is over."),
        EventType("request.did_create_initial_url_request", "A request was made.", target),
        EventType("request.did_fail_to_create_url_request", "A request could not be made of its parameters.", [error]),
        EventType(
            "request.did_adapt_initial_request", "All adapters have had the request; not told where there are none.",
            [
                .required("initial", .answer(urlRequest), "As it was made of the parameters."),
                .required("adapted", .answer(urlRequest), "As the adapters want it."),
            ]),
        EventType(
            "request.did_fail_to_adapt_url_request", "An adapter failed, or made what must not be sent.", [error]),
        EventType("request.did_create_url_request", "The request is as it will be sent.", urlRequest),
        EventType(
            "request.did_create_uploadable", "The body that an upload sends is there.",
            [
                .required("kind", .choice("data", "file", "stream"), "Where its bytes come from."),
                .optional("size_bytes", .count, "How many they are; absent if nobody knows."),
            ]),
        EventType(
            "request.did_fail_to_create_uploadable", "The body that an upload was to send could not be made.", [error]),
        EventType(
            "request.did_provide_input_stream", "The hop that needed the body that is given meanwhile has it to read."),
        EventType(
            "request.upload_progress",
            "How much of an upload's body was sent: at first, at last, and at most ten times a second between.",
            uploaded),
        EventType("request.did_create_task", "A request was handed to the network for an attempt."),
        EventType("request.did_resume", "A request was started.", target),
        EventType("request.did_resume_task", "An attempt was started."),
        EventType("request.did_cancel", "A request was cancelled."),
        EventType("request.did_cancel_task", "An attempt was cancelled."),
        EventType("request.did_suspend", "A request was suspended."),
        EventType("request.did_suspend_task", "An attempt was suspended."),
        EventType("request.did_gather_metrics", "What an attempt cost is known.", metrics),
        EventType(
            "request.did_validate", "A validator has judged the response.",
            [
                .required("validator", .string, "Which: `status`, `content_type` or `callback`."),
                .required("index", .count, "Its place in the list, from 0."),
                .required("ok", .boolean, "Whether the response is acceptable."),
                .optional("error", .requestError, "Why it is not."),
            ]),
        EventType("request.did_complete_task", "An attempt is over.", taskError),
        EventType(
            "request.is_retrying", "A request is about to be sent again.",
            [.required("retry_count", .count, "How often, this time included.")]),
        EventType(
            "request.did_parse_response", "A serializer has made a value of the response, or has not.",
            [
                .required("serializer", .string, "Which; `none` where the body itself is the answer."),
                .required("ok", .boolean, "Whether there is a value."),
                .required("duration_us", .count, "What it took, in microseconds."),
                .optional("error", .requestError, "Why there is none."),
            ]),
        EventType(
            "request.did_parse_stream",
            "A reader of a stream was given a message; not told of readers that get the bytes themselves.",
            [
                .required("serializer", .streamSerializer, "What the reader gets."),
                .required("seq", .count, "The message's number among the reader's."),
                .required("size_bytes", .count, "The bytes of the stream that it took."),
                .required("ok", .boolean, "Whether they were of the right form."),
                .optional("error", .requestError, "Why they were not."),
            ]),
        EventType(
            "request.did_finish", "A request is over but for its serializers.",
            [
                .required("state", .requestState, "The state that it ends in."),
                .required("ok", .boolean, "Whether there is a response."),
                .optional("status", .integer, "Its status."),
                .required("size_bytes", .count, "The size of the decoded body."),
                .optional("error", .requestError, "Why there is none."),
            ]),
        EventType(
            "task.did_receive_challenge",
            """
            A server has shown its certificate on a new connection, and it was judged; or its response says that it wants to \
            know who sends the request.
            """,
            [
                .required(
                    "method", .choice("ServerTrust", "HTTPBasic", "HTTPDigest", "HTTPNTLM", "HTTPNegotiate"),
                    "What it is about."),
                .required("host", .string, "The server."), .required("port", .count, "Its port."),
                .optional("realm", .string, "What the server calls the place that it guards."),
                .required(
                    "previous_failure_count", .count, "1 if the request carries a credential, which was refused."),
            ]),
        EventType(
            "request.did_fail_task_early",
            "The server's certificate is none that `trust` lets pass. Not told where the system alone judges.", [error]),
        EventType(
            "task.did_receive_response",
            "The head of the final response is there; redirects that are followed are told by `task.will_redirect`.",
            [.required("response", .responseHead, "The head.")]),
        EventType("task.did_receive_data", "A piece of the final response's body is there.", size),
        EventType("task.did_send_body_data", "A piece of a request's body was taken by the network.", size + uploaded),
        EventType(
            "task.needs_new_body_stream",
            "A hop begins to read a body that is given while it is sent: `body.put` gives it."),
        EventType(
            "task.will_redirect", "The origin redirects, whether or not the request follows.",
            [
                .optional("status", .integer, "The status of the redirect."),
                .optional("from", .string, "The URL that was asked."), .required("url", .string, "Where to."),
            ]),
        EventType(
            "task.did_write_data", "A piece of a download was written to its file.",
            size + progress),
        EventType(
            "task.did_resume_at_offset", "A download goes on where an earlier one broke off.",
            [.required("offset_bytes", .count, "The first byte that comes."), total]),
        EventType(
            "task.did_finish_downloading", "All of a download is in its partial file, or in the spool.",
            [.required("file", .string, "Where.")]),
        EventType(
            "request.did_create_destination_url", "A download is about to get its final name.",
            [.required("file", .string, "Which.")]),
        EventType(
            "request.did_finish_downloading", "A download has its final name, or cannot have it.",
            [
                .optional("file", .string, "The name."),
                .optional("error", .requestError, "Why it cannot."),
            ]),
        EventType(
            "request.progress",
            """
            So much of the body has come: ten times a second, and at its end, where there is a body. Of a download at its \
            beginning too.
            """,
            progress + [
                .optional(
                    "resume_data", .string,
                    "What there is to go on with, if the daemon should end before; only for the client that made it.")
            ]),
        EventType("task.did_collect_metrics", "What an attempt cost is known.", metrics),
        EventType("task.did_complete", "The last hop of an attempt is over.", taskError),
        EventType(
            "task.is_waiting_for_connectivity",
            "There is no way to the host, and the request waits for one (`waits_for_connectivity`). Told once of an attempt.",
            [
                .required(
                    "status", .choice("satisfied", "unsatisfied", "requires_connection", "unknown"),
                    "The state of the way to the host."),
                .optional("reason", .string, "Why there is none, as in `reachability.get`."),
            ]),
        EventType("pool.connection_opened", "A connection to an origin was opened.", connection),
        EventType(
            "pool.connection_closed", "A connection to an origin was closed.",
            connection + [.required("transfers", .count, "How many transfers it served.")]),
        EventType("reachability.changed", "The network is another one, gone or back.", JSONSchema.reachabilityChange),
        EventType(
            "daemon.config_reloaded", "The configuration was read again.",
            [
                .required("changed", .array(of: .string), "Settings that have taken effect."),
                .required("needs_restart", .array(of: .string), "Settings that wait for the next start."),
            ]),
        EventType(
            "daemon.draining", "The daemon will end.",
            [.required("deadline_ms", .count, "How long requests under way may take.")]),
    ]

    /// The steps that notifications tell, under the names that they have there.
    private static let notifications = [
        notification("notification.did_resume", "request.did_resume"),
        notification("notification.did_suspend", "request.did_suspend"),
        notification("notification.did_cancel", "request.did_cancel"),
        notification("notification.did_finish", "request.did_finish"),
        notification("notification.did_resume_task", "request.did_resume_task"),
        notification("notification.did_suspend_task", "request.did_suspend_task"),
        notification("notification.did_cancel_task", "request.did_cancel_task"),
        notification("notification.did_complete_task", "request.did_complete_task"),
    ]

    private static func notification(_ name: StaticString, _ step: StaticString) -> EventType {
        EventType(
            name, "Right after `\(step)`. Comes only to those who ask for `notification.` by that name.",
            [.required("description", .string, "Method, URL and, once there is one, status of the request.")])
    }

    private static let loss: [JSONSchema.Member] = [
        .required("dropped", .count, "How many events."),
        .required("resume", .string, "The cursor before the first of them: `since` finds them, if it is soon."),
    ]

    /// What the protocol itself tells a subscription, whatever it asked for. None of it is in the journal.
    private static let own = [
        EventType(
            "lagged", "Events were dropped because the client did not read; what comes now goes on from here.", loss),
        EventType("bookmark", "Nothing that is wanted has happened up to this cursor."),
        EventType(
            "subscription.closed", "The daemon has ended the subscription.",
            [
                .required("reason", .choice("request_finished", "lagged", "connection_closing"), "Why."),
                .optional("dropped", .count, "How many events were dropped, if the client did not read."),
                .optional("resume", .string, "The cursor before the first of them."),
            ]),
    ]
}
