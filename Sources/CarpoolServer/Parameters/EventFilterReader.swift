internal import CarpoolJSON
internal import CarpoolRPC

/// Reads the filter and the cursor of a call for events.
enum EventFilterReader {
    static func filter(_ call: Call) throws(RPCError) -> EventFilter {
        EventFilter(patterns: try patterns(call.params["types"], path: "params.types"), scope: try scope(call))
    }

    /// Patterns that match at least one type: a subscription that can never get an event is a spelling mistake.
    static func patterns(_ json: JSON?, path: String) throws(RPCError) -> [String] {
        guard let json else { return ["*"] }
        let patterns = (0..<json.count).compactMap { json[index: $0]?.string }
        for (i, pattern) in patterns.enumerated() where EventTypeSet(pattern: pattern).isEmpty {
            throw .invalidParams(
                path: "\(path)[\(i)]", message: "no event type matches \(pattern.prefix(64).debugDescription)",
                expected: "a type or a pattern such as request.*; rpc.discover lists them")
        }
        return patterns
    }

    private static func scope(_ call: Call) throws(RPCError) -> EventFilter.Scope {
        switch call.params["scope"]?.string {
        case nil, "mine": return .mine(call.client.identity)
        case "all": return call.client.role == .admin ? .everyone : .user(call.client.uid)
        case .some(let scope):
            guard scope.hasPrefix("session:") else {
                throw .invalidParams(
                    path: "params.scope", message: "unknown scope: \(scope.prefix(64).debugDescription)",
                    expected: "mine, all or session:NAME")
            }
            return .session(String(scope.dropFirst(8)), of: call.client.uid)
        }
    }

    /// Where the caller has stopped reading; what no daemon has ever given is a mistake.
    static func cursor(_ call: Call) throws(RPCError) -> EventCursor? {
        guard let text = call.params["since"]?.string else { return nil }
        guard let cursor = EventCursor(text) else {
            throw .invalidParams(
                path: "params.since", message: "not a cursor: \(text.prefix(64).debugDescription)",
                expected: "the cursor of an event or an answer")
        }
        return cursor
    }
}
