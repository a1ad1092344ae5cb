internal import CarpoolRPC

// Refusals that only the daemon has reason for.
extension RPCError {
    static func tooManySubscriptions(limit: Int) -> RPCError {
        RPCError(.tooManyInFlight, "more than \(limit) subscriptions on one connection")
    }

    static func tooManySessions(limit: Int, named name: StaticString) -> RPCError {
        RPCError(.queueFull, "more than \(limit) sessions (limits.\(name)); invalidate those that are no longer used")
    }

    static var tooManyConnections: RPCError {
        RPCError(.tooManyInFlight, "too many connections; close some, or raise limits.connections")
    }

    static var defaultSession: RPCError {
        .wrongState(
            session: "default", state: "valid",
            expected: "a session that you created; each user has one default session")
    }
}
