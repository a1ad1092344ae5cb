internal import CarpoolJSON

// The parameters and results that methods about events share.
extension JSONSchema {
    /// Types of events, and patterns of types.
    static let eventTypes = JSONSchema.array(of: .string(maxBytes: 128), count: 1...64)

    /// The least time between two progress events of a request.
    static let progressInterval = JSONSchema.integer(0...3_600_000)

    /// A snapshot of the present state.
    static let eventSnapshot = JSONSchema.named(
        "Snapshot",
        .answer([
            .required(
                "requests",
                .array(
                    of: .answer([
                        .required("request", .requestName, "Its name."),
                        .required("state", .requestState, "Its state."),
                        .required("session", .sessionName, "Its session."),
                        .required("client", .string, "The connection that made it."),
                        .required("attempt", .integer, "The number of its attempt, from 1."),
                        .required("retry_count", .count, "The number of retries."),
                    ])), "The running requests of the scope, oldest first. A request that is not here has ended."),
            .optional("truncated", .constant(true), "There are more than fit the line: see `request.list`."),
            .required(
                "sessions",
                .array(
                    of: .answer([
                        .required("session", .sessionName, "Its name."),
                        .required("active", .count, "The number of its running requests."),
                    ])), "The user's sessions, by name; at most 64."),
            .required(
                "pool",
                .answer([
                    .required("connections", .count, "Open connections."),
                    .required("idle", .count, "Open connections without a transfer."),
                    .required("active", .count, "Running transfers."),
                    .required("queued", .count, "Transfers that wait for a connection."),
                ]), "The pool: connections of the user, or with scope `all`, for an administrator, of all users."),
            .optional("reachability", .reachability, "The network, as in `reachability.get`."),
        ]))
}

extension JSONSchema.Member {
    /// The types of events.
    static let types = JSONSchema.Member.optional(
        "types", .eventTypes,
        """
        Types, or patterns such as `request.*`; `*` stands for any characters. The types that begin with `notification.` \
        repeat others: only a pattern that begins so matches them.
        """, default: "[\"*\"]")

    /// The requests and sessions whose events are sent.
    static let eventScope = JSONSchema.Member.optional(
        "scope", .string(maxBytes: 128),
        """
        `mine`: requests of the same client; `all`: those of the same user, and for an administrator those of all users; or \
        `session:NAME`: those of one of the user's sessions.
        """, default: "\"mine\"")

    /// The cursor of the last event that the caller has read.
    static let since = JSONSchema.Member.optional(
        "since", .string(maxBytes: 64), "The cursor of the last event that was read. Default: from now on.")

    /// The members of an answer to a cursor that is too old.
    static let gap: [JSONSchema.Member] = [
        .optional(
            "gap", .constant(true),
            "The cursor is of another run of the daemon, or older than the journal: events are missing."),
        .optional("snapshot", .eventSnapshot, "The current state, at a gap or with `snapshot`."),
    ]
}
