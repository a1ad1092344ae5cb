internal import CarpoolRPC

// Errors that only the daemon returns.
extension RPCError {
    static func tooManySubscriptions(limit: Int) -> RPCError {
        ofConnection("subscriptions", "subscriptions_per_connection", limit)
    }

    static func tooManyStreamReaders(ofConnection limit: Int) -> RPCError {
        ofConnection("readers of streams", "stream_readers_per_connection", limit)
    }

    /// An error that names a limit of the connection.
    private static func ofConnection(_ what: String, _ name: String, _ limit: Int) -> RPCError {
        RPCError(.tooManyInFlight, "too many \(what) on this connection: at most \(limit) (limits.\(name))")
            .with("limit_name", name).with("limit", .integer(limit))
    }

    static func tooManySessions(_ refusal: Quota.Refusal) -> RPCError {
        overQuota(.queueFull, refusal, "sessions", hint: "Invalidate unused sessions, or raise the limit.")
            .with("limit", .integer(refusal.value))
    }

    static func tooManyConnections(_ refusal: Quota.Refusal) -> RPCError {
        overQuota(.tooManyInFlight, refusal, "connections", hint: "Close unused connections, or raise the limit.")
            .with("limit", .integer(refusal.value))
    }

    static func tooManyToClose() -> RPCError {
        var error = RPCError(
            .tooManyInFlight,
            "the daemon is still closing descriptors that this user has passed: a slow disk, or a socket with SO_LINGER, delays close(2)"
        )
        error.hint = "Retry later; pass fewer descriptors at a time."
        return error
    }

    static func tooManySubscriptions(_ refusal: Quota.Refusal) -> RPCError {
        overQuota(.tooManyInFlight, refusal, "subscriptions", hint: "End unused subscriptions, or raise the limit.")
            .with("limit", .integer(refusal.value))
    }

    static func tooManyRawStreams(_ refusal: Quota.Refusal) -> RPCError {
        overQuota(.tooManyInFlight, refusal, "raw streams", hint: "Close unused streams, or raise the limit.")
            .with("limit", .integer(refusal.value))
    }

    static func tooManyStreamReaders(_ refusal: Quota.Refusal) -> RPCError {
        overQuota(.tooManyInFlight, refusal, "readers of streams", hint: "Wait for a stream to end.")
            .with("limit", .integer(refusal.value))
    }

    static func tooManyRequests(_ refusal: Quota.Refusal) -> RPCError {
        overQuota(.queueFull, refusal, "unfinished requests", hint: "Wait for requests to finish.")
            .with("limit", .integer(refusal.value))
    }

    static func tooManyRequestBytes(_ refusal: Quota.Refusal) -> RPCError {
        overQuota(
            .queueFull, refusal, "bytes in unfinished requests, with their bodies and fields",
            hint: "Send large bodies as a file or a descriptor, which do not count, or wait for requests to finish."
        )
        .with("limit_bytes", .integer(refusal.value))
    }

    static func tooManySessionBytes(_ refusal: Quota.Refusal) -> RPCError {
        overQuota(
            .queueFull, refusal, "bytes in configurations of sessions",
            hint: "Invalidate unused sessions, and dismiss their finished requests."
        )
        .with("limit_bytes", .integer(refusal.value))
    }

    static func tooMuchTrustMaterial(_ refusal: Quota.Refusal) -> RPCError {
        overQuota(
            .queueFull, refusal, "bytes of certificates and revocation lists in use",
            hint: "Use the same files, which count once; or wait for requests, and invalidate unused sessions."
        )
        .with("limit_bytes", .integer(refusal.value))
    }

    /// An error that names the limit and its holder. While others hold or wait for some, the holder may have only a
    /// share of the limit.
    private static func overQuota(
        _ kind: RPCErrorKind, _ refusal: Quota.Refusal, _ what: String, hint: String
    ) -> RPCError {
        let holder =
            switch refusal.holder {
            case .client: "your client"
            case .user: "your user"
            case .everyone: "all users together"
            }
        let limit = refusal.isShare ? "now, its share of limits.\(refusal.limit)" : "(limits.\(refusal.limit))"
        var error = RPCError(kind, "too many \(what): \(holder) may have \(refusal.value) \(limit)")
        error.hint = hint
        return error.with("limit_name", refusal.limit).with("holder", refusal.holder.rawValue)
    }

    static func declaredSession(_ session: String, file: String) -> RPCError {
        var error = RPCError(.wrongState, "session \(session) is declared in the configuration file")
            .with("state", "valid").with("expected", "a session from session.create").with("session", session)
        error.hint = "Remove it from \(file), and call daemon.config_reload."
        return error
    }

    /// A request that continues without its caller would wait forever for the descriptor of its body.
    static var outputNeedsCaller: RPCError {
        .invalidParams(
            path: "params.response_body.fd",
            message: "a request that continues without its caller needs its descriptor at once",
            expected: "a descriptor that comes with the line, or `on_disconnect` \"cancel\"")
    }

    /// A request that outlives its client would wait for ever for a call of that client.
    static var detachedFollower: RPCError {
        .invalidParams(
            path: "params.after", message: "a request that continues without its caller follows none of its calls",
            expected: "a call without `key` and with `on_disconnect` \"cancel\", or without `after`")
    }

    /// The `default` session cannot be ended.
    static var defaultSession: RPCError {
        RPCError(.wrongState, "the default session cannot be invalidated")
            .with("state", "valid").with("expected", "a session from session.create").with("session", "default")
    }
}
