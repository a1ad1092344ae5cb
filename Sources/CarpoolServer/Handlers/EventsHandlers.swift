internal import CarpoolJSON
internal import CarpoolRPC

/// `events.*`: who wants to hear what.
struct EventsHandlers {
    unowned let server: Server

    var table: [String: Handler] { ["events.subscribe": subscribe, "events.unsubscribe": unsubscribe] }

    private func subscribe(_ call: Call) throws(RPCError) -> Answer {
        let client = call.client
        guard client.subscriptions.count < server.limits.subscriptionsPerConnection else {
            throw .tooManySubscriptions(limit: server.limits.subscriptionsPerConnection)
        }
        let patterns = try self.patterns(call.params["types"])
        let filter = EventFilter(patterns: patterns, scope: try scope(call))
        let subscription = Subscription(id: "s\(server.publisher.nextSubscription())", filter: filter)
        client.subscriptions[subscription.id] = subscription
        server.publisher.add(subscription, sink: client)
        return .result { writer in
            writer.beginObject()
            writer.member("sub", subscription.id)
            writer.member("types", patterns)
            writer.member("cursor", server.publisher.cursor)
            writer.endObject()
        }
    }

    /// Patterns that match at least one type: a subscription that can never hear anything is a spelling mistake.
    private func patterns(_ json: JSON?) throws(RPCError) -> [String] {
        guard let json else { return ["*"] }
        let patterns = (0..<json.count).compactMap { json[index: $0]?.string }
        for (i, pattern) in patterns.enumerated() {
            let filter = EventFilter(patterns: [pattern], scope: .all)
            guard EventType.all.contains(where: { filter.matches(type: $0.name) }) else {
                throw .invalidParams(
                    path: "params.types[\(i)]", message: "no event type matches \(pattern.prefix(64).debugDescription)",
                    expected: "a type or a pattern such as request.*; rpc.discover lists them")
            }
        }
        return patterns
    }

    private func scope(_ call: Call) throws(RPCError) -> EventFilter.Scope {
        switch call.params["scope"]?.string {
        case nil, "mine": return .mine(call.client.identity)
        case "all": return .all
        case .some(let scope):
            guard scope.hasPrefix("session:") else {
                throw .invalidParams(
                    path: "params.scope", message: "unknown scope: \(scope.prefix(64).debugDescription)",
                    expected: "mine, all or session:NAME")
            }
            return .session(String(scope.dropFirst(8)))
        }
    }

    private func unsubscribe(_ call: Call) throws(RPCError) -> Answer {
        let id = call.params["sub"]?.string ?? ""
        let subscription = call.client.subscriptions.removeValue(forKey: id)
        if let subscription { server.publisher.remove(subscription) }
        return .result { StateChange.write(subscription != nil, state: "unsubscribed", to: &$0) }
    }
}
