internal import CarpoolJSON

/// `events.*`: who wants to hear what.
enum EventsMethods {
    static let all: [Method] = [subscribe, unsubscribe, next]

    private static let subscribe = Method(
        "events.subscribe", role: .observe, "Has events sent on this connection.",
        """
        The answer is written before any event of the subscription. Each event is a notification `event`. A subscription \
        keeps its connection open when the client has closed its side for writing. With `since` it begins where another \
        one has ended: what has happened meanwhile comes first, and nothing comes twice. A client that does not read \
        loses events, never answers: see `on_lag`. Secrets are told only to the client whose request has them.
        """,
        params: [
            .types, .eventScope, .since,
            .optional(
                "snapshot", .boolean, "Whether the answer says how things stand. Absent: only at a gap."),
            .optional(
                "progress_interval_ms", .progressInterval,
                """
                The least time between two steps of one request's progress; of those that come too early the newest is \
                told when its time has come, and the last one of an attempt before the attempt's end. 0: all.
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
                .required("sub", .string, "The subscription's name, which its events carry."),
                .required("types", .array(of: .string), "What it is for."),
                .required("cursor", .string, "Where the subscription begins in the stream of events."),
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
        "events.next", role: .observe, "Gives the next events, or waits for one.",
        """
        The same events for those who would rather ask: each call begins where the last one's `cursor` says, and the daemon \
        keeps nothing of it. Answers as soon as there is an event that is wanted, with all that there are, or with none \
        after `timeout_ms`. Between two calls events are recorded for as long as `journal_linger_ms` says.
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
                .required("cursor", .string, "For the next call."),
            ] + JSONSchema.Member.gap), isInterruptible: true,
        examples: [
            .init(
                "nothing yet", params: #"{"types":["request.did_finish"],"timeout_ms":0}"#,
                result: #"{"events":[],"cursor":"k3f9.10442"}"#)
        ])
}

extension JSONSchema {
    /// What every event has, but for the subscription that it is for.
    static let eventMembers: [Member] = [
        .required("cursor", .string, "Where it stands in the stream of events."),
        .required("time", .time, "When it happened."),
        .required("type", .string, "What happened."),
        .optional("session", .string, "The session that it is about."),
        .optional("request", .string, "The request that it is about."),
        .optional("client", .string, "The connection that made the request."),
        .optional("attempt", .integer, "Which attempt of the request, from 1."),
        .required("data", .object([], additional: .allowed), "What the type has to tell."),
    ]
}
