internal import CarpoolJSON

/// `events.*`: subscriptions to events.
enum EventsMethods {
    static let all: [Method] = [subscribe, unsubscribe, next]

    private static let subscribe = Method(
        "events.subscribe", role: .observe, "Subscribes this connection to events.",
        """
        The answer is written before any event of the subscription. Each event is a notification `event`. A subscription \
        keeps its connection open when the client has closed its side for writing. With `since` it continues after an \
        earlier one: it sends the recorded events after that cursor first, and each event once. A client that does not \
        read loses events, never answers: see `on_lag`. Only the client that made a request sees its secrets.
        """,
        params: [
            .types, .eventScope, .since,
            .optional(
                "snapshot", .boolean, "Whether the answer has a snapshot. Default: only at a gap."),
            .optional(
                "progress_interval_ms", .progressInterval,
                """
                The least time between two progress events of one request. Of the events within this time only the newest is \
                sent, when the time is over; the last one of an attempt is sent before the attempt's end. 0: all are sent.
                """, default: "0"),
            .optional(
                "on_lag", .choice("drop", "close"),
                """
                What happens when more than 8 MiB waits for a client that does not read. `drop`: the waiting events are \
                dropped. When the client reads again, one event `lagged` has the number of dropped events and the cursor \
                before them, and the subscription continues. `close`: the subscription ends with `subscription.closed`.
                """, default: "\"drop\""),
        ],
        result: .answer(
            [
                .required("sub", .string, "The subscription's name, which is in its events."),
                .required("types", .array(of: .string), "The types of its events."),
                .required("cursor", .string, "The position of its first event in the stream of events."),
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
        "After the answer no event of it is sent. A name without a subscription is not an error.",
        params: [.required("sub", .string(maxBytes: 64), "The subscription's name.")], result: .stateChange,
        examples: [.init("one", params: #"{"sub":"${sub}"}"#, result: #"{"changed":true,"state":"unsubscribed"}"#)])

    private static let next = Method(
        "events.next", role: .observe, "Returns the next events, or waits for one.",
        """
        The same events for clients that poll: each call begins at the `cursor` of the previous call, and the daemon keeps \
        no state. Answers as soon as an event matches, with all that match, or with none after `timeout_ms`. Between two \
        calls events are recorded for `journal_linger_ms`.
        """,
        params: [
            .since, .types, .eventScope,
            .optional("timeout_ms", .integer(0...60_000), "How long to wait.", default: "60000"),
            .optional(
                "max", .integer(1...10_000),
                "The maximum number of events; fewer are returned if the line would be too long.",
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
        .required("cursor", .string, "The position in the stream of events."),
        .required("time", .time, "The time of the event."),
        .required("type", .string, "The type of the event."),
        .optional("session", .string, "The session of the event."),
        .optional("request", .string, "The request of the event."),
        .optional("client", .string, "The connection that made the request."),
        .optional("attempt", .integer, "The number of the request's attempt, from 1."),
        .required("data", .object([], additional: .allowed), "The members of the type."),
    ]
}
