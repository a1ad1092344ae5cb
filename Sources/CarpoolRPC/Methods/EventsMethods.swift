internal import CarpoolJSON

/// `events.*`: subscriptions to events.
enum EventsMethods {
    static let all: [Method] = [subscribe, unsubscribe, next]

    private static let subscribe = Method(
        "events.subscribe", role: .observe, "Has events sent on this connection.",
        """
        The answer is written before any event of the subscription. Each event is a notification `event`. A subscription \
        keeps its connection open when the client has closed its side for writing. With `since` it continues after an \
        earlier one: the events in between come first, and none comes twice. A client that does not read loses events, \
        never answers: see `on_lag`. Only the client that made a request sees its secrets.
        """,
        params: [
            .types, .eventScope, .since,
            .optional(
                "snapshot", .boolean, "Whether the answer has a snapshot. Default: only at a gap."),
            .optional(
                "progress_interval_ms", .progressInterval,
                """
                The least time between two progress events of one request. Of those that come too early the newest is sent \
                later, and the last one of an attempt before the attempt's end. 0: all are sent.
                """, default: "0"),
            .optional(
                "on_lag", .choice("drop", "close"),
                """
                When more than 8 MiB waits for a client that does not read. `drop`: what waits is dropped, and when the \
                client reads again, one `lagged` says how much and where; then it goes on. `close`: the subscription \
                ends with `subscription.closed`.
                """, default: "\"drop\""),
        ],
        result: .answer(
            [
                .required("sub", .string, "The subscription's name, which is in its events."),
                .required("types", .array(of: .string), "The types that it gets."),
                .required("cursor", .string, "The place of its first event in the stream of events."),
            ] + JSONSchema.Member.gap), errors: [.tooManyInFlight],
        examples: [
            .init(
                "ends of all requests", params: #"{"types":["request.did_finish"],"scope":"all"}"#,
                result: #"{"sub":"s1","types":["request.did_finish"],"cursor":"k3f9.10442"}"#),
            .init(
                "from a cursor of an earlier daemon", params: #"{"since":"k3f9.10442"}"#,
                result: """
                    {"sub":"s2","types":["*"],"cursor":"m0a1.12","gap":true,"snapshot":{"requests":[],\
                    "sessions":[{"session":"default","active":0}],\
                    "pool":{"connections":1,"idle":1,"active":0,"queued":0}}}
                    """),
        ])

    private static let unsubscribe = Method(
        "events.unsubscribe", role: .observe, "Ends a subscription of this connection.",
        "After the answer no event of it follows. One that is not there is no error.",
        params: [.required("sub", .string(maxBytes: 64), "The subscription's name.")], result: .stateChange,
        examples: [.init("one", params: #"{"sub":"${sub}"}"#, result: #"{"changed":true,"state":"unsubscribed"}"#)])

    private static let next = Method(
        "events.next", role: .observe, "Returns the next events, or waits for one.",
        """
        The same events for clients that poll: each call begins at the `cursor` of the call before, and the daemon keeps \
        no state. Answers as soon as an event matches, with all that match, or with none after `timeout_ms`. Between two \
        calls events are recorded for `journal_linger_ms`.
        """,
        params: [
            .since, .types, .eventScope,
            .optional("timeout_ms", .integer(0...60_000), "How long to wait.", default: "60000"),
            .optional(
                "max", .integer(1...10_000), "The most events; fewer come where the line would be too long.",
                default: "100"),
        ],
        result: .answer(
            [
                .required(
                    "events", .array(of: .named("Event", .answer(JSONSchema.eventMembers))), "Oldest first."),
                .required("cursor", .string, "The cursor for the next call."),
            ] + JSONSchema.Member.gap), isInterruptible: true,
        examples: [
            .init(
                "nothing yet", params: #"{"types":["request.did_finish"],"timeout_ms":0}"#,
                result: #"{"events":[],"cursor":"k3f9.10442"}"#)
        ])
}

extension JSONSchema {
    /// The members of every event, except its subscription.
    static let eventMembers: [Member] = [
        .required("cursor", .string, "The place in the stream of events."),
        .required("time", .time, "The time of the event."),
        .required("type", .string, "The type of the event."),
        .optional("session", .string, "The session that it is about."),
        .optional("request", .string, "The request that it is about."),
        .optional("client", .string, "The connection that made the request."),
        .optional("attempt", .integer, "The number of the request's attempt, from 1."),
        .required("data", .object([], additional: .allowed), "The members of the type."),
    ]
}
