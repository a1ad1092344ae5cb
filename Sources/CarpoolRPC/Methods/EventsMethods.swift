internal import CarpoolJSON

/// `events.*`: who wants to hear what.
enum EventsMethods {
    static let all: [Method] = [subscribe, unsubscribe]

    private static let subscribe = Method(
        "events.subscribe", role: .observe, "Has events sent on this connection.",
        """
        The answer is written before any event of the subscription. Each event is a notification `event`. A subscription \
        keeps its connection open when the client has closed its side for writing. A client that does not read loses \
        events, never answers: when it has caught up, a `lagged` event says how many. Nothing is kept: events from \
        before the subscription do not come.
        """,
        params: [
            .optional(
                "types", .array(of: .string(maxBytes: 128), count: 1...64),
                "Types, or patterns such as `request.*`; `*` stands for any characters.", absent: "[\"*\"]"),
            .optional(
                "scope", .string(maxBytes: 128),
                "`mine`: requests of the same user and client name; `all`; or `session:NAME`.", absent: "\"mine\""),
        ],
        result: .answer([
            .required("sub", .string, "The subscription's name, which its events carry."),
            .required("types", .array(of: .string), "What it is for."),
            .required("cursor", .string, "Where the stream of events stood."),
        ]), errors: [.tooManyInFlight],
        examples: [
            .init(
                "ends of all requests", params: #"{"types":["request.did_finish"],"scope":"all"}"#,
                result: #"{"sub":"s1","types":["request.did_finish"],"cursor":"k3f9.10442"}"#)
        ])

    private static let unsubscribe = Method(
        "events.unsubscribe", role: .observe, "Ends a subscription of this connection.",
        "After the answer no event of it follows. One that is not there is no error.",
        params: [.required("sub", .string(maxBytes: 64), "The subscription's name.")], result: .stateChange,
        examples: [.init("one", params: #"{"sub":"${sub}"}"#, result: #"{"changed":true,"state":"unsubscribed"}"#)])
}
