internal import CarpoolRPC

// Errors that only the daemon returns.
extension RPCError {
    static func tooManySubscriptions(limit: Int) -> RPCError {
        RPCError(.tooManyInFlight, "the connection has reached its limit of \(limit) subscriptions")
    }

    static func tooManySessions(_ refusal: Quota.Refusal) -> RPCError {
        overQuota(.queueFull, refusal, "sessions").with("limit", .integer(refusal.value))
    }

    static func tooManyConnections(_ refusal: Quota.Refusal) -> RPCError {
        overQuota(.tooManyInFlight, refusal, "connections").with("limit", .integer(refusal.value))
    }

    static func tooManyToClose() -> RPCError {
        RPCError(
            .tooManyInFlight,
            "too many descriptors of this user are still being closed: a disk, or a socket with SO_LINGER, delays close(2)"
        )
    }

    static func tooManySubscriptions(_ refusal: Quota.Refusal) -> RPCError {
        overQuota(.tooManyInFlight, refusal, "subscriptions").with("limit", .integer(refusal.value))
    }

    static func tooManyRawStreams(_ refusal: Quota.Refusal) -> RPCError {
        overQuota(.tooManyInFlight, refusal, "raw streams").with("limit", .integer(refusal.value))
    }

    static func tooManyStreamReaders(ofConnection limit: Int) -> RPCError {
        RPCError(
            .tooManyInFlight,
            "your connection has reached its limit of \(limit) readers of streams (limits.stream_readers_per_connection)"
        )
        .with("limit_name", "stream_readers_per_connection").with("limit", .integer(limit))
    }

    static func tooManyStreamReaders(_ refusal: Quota.Refusal) -> RPCError {
        overQuota(.tooManyInFlight, refusal, "readers of streams").with("limit", .integer(refusal.value))
    }

    static func tooManyRequests(_ refusal: Quota.Refusal) -> RPCError {
        overQuota(.queueFull, refusal, "unfinished requests").with("limit", .integer(refusal.value))
    }

    static func tooManyRequestBytes(_ refusal: Quota.Refusal) -> RPCError {
        overQuota(
            .queueFull, refusal,
            "bytes in unfinished requests, with their bodies and fields",
            advice: "; a body in a file or a descriptor takes none"
        )
        .with("limit_bytes", .integer(refusal.value))
    }

    static func tooManySessionBytes(_ refusal: Quota.Refusal) -> RPCError {
        overQuota(
            .queueFull, refusal,
            "bytes in configurations of sessions",
            advice: "; invalidate unused sessions, and dismiss their finished requests"
        )
        .with("limit_bytes", .integer(refusal.value))
    }

    /// Makes an error that names the limit and its holder.
    private static func overQuota(
        _ kind: RPCErrorKind, _ refusal: Quota.Refusal, _ what: String, advice: String = ""
    ) -> RPCError {
        let holder =
            switch refusal.holder {
            case .client: "your client has reached its"
            case .user: "your user has reached its"
            case .everyone: "all users together have reached their"
            }
        return RPCError(kind, "\(holder) limit of \(refusal.value) \(what) (limits.\(refusal.limit))\(advice)")
            .with("limit_name", refusal.limit).with("holder", refusal.holder.rawValue)
    }

    static var defaultSession: RPCError {
        .wrongState(
            session: "default", state: "valid",
            expected: "a session that you created; each user has one default session")
    }
}
