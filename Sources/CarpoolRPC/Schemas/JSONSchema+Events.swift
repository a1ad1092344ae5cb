internal import CarpoolJSON

// What the methods about events have in common.
extension JSONSchema {
    /// Types of events, and patterns of types.
    static let eventTypes = JSONSchema.array(of: .string(maxBytes: 128), count: 1...64)

    /// The least time between two steps of a request's progress.
    static let progressInterval = JSONSchema.integer(0...3_600_000)

    /// How things stand.
    static let eventSnapshot = JSONSchema.named(
        "Snapshot",
        .answer([
            .required(
                "requests",
                .array(
                    of: .answer([
                        .required("request", .requestName, "Its name."),
                        .required("state", .requestState, "Where it is in its life."),
                        .required("session", .sessionName, "Its session."),
                        .required("client", .string, "The connection that made it."),
                        .required("attempt", .integer, "Its attempt, from 1."),
                        .required("retry_count", .count, "How often it was sent again."),
                    ])), "Those of the scope that are not over, oldest first. One that is not here is over."),
            .optional("truncated", .constant(true), "There are more than fit the line: see `request.list`."),
            .required(
                "sessions",
                .array(
                    of: .answer([
                        .required("session", .sessionName, "Its name."),
                        .required("active", .count, "Its requests that are not over."),
                    ])), "The user's sessions, by name; at most 64."),
            .required(
                "pool",
                .answer([
                    .required("connections", .count, "Open connections."),
                    .required("idle", .count, "Those that nobody uses."),
                    .required("active", .count, "Transfers under way."),
                    .required("queued", .count, "Transfers that wait."),
                ]), "The pool: connections of the user, or with scope `all`, for an administrator, of all users."),
            .optional("reachability", .reachability, "The network, as `reachability.get` tells it."),
        ]))
}

extension JSONSchema.Member {
    /// The types that are wanted.
    static let types = JSONSchema.Member.optional(
        "types", .eventTypes,
        """
        Types, or patterns such as `request.*`; `*` stands for any characters. The types that begin with `notification.` say \
        again what others say: only a pattern that begins so means them.
        """, default: "[\"*\"]")

    /// Whose events are wanted.
    static let eventScope = JSONSchema.Member.optional(
        "scope", .string(maxBytes: 128),
        """
        `mine`: requests of the same client; `all`: those of the same user, and for an administrator those of all users; or \
        `session:NAME`: those of one of the user's sessions.
        """, default: "\"mine\"")

    /// Where the caller has stopped reading.
    static let since = JSONSchema.Member.optional(
        "since", .string(maxBytes: 64), "The cursor of the last event that was read. Absent: from now on.")

    /// What is told where a cursor is too old.
    static let gap: [JSONSchema.Member] = [
        .optional(
            "gap", .constant(true),
            "The cursor is of another run of the daemon, or older than the journal: events are missing."),
        .optional("snapshot", .eventSnapshot, "How things stand, at a gap or on demand."),
    ]
}
