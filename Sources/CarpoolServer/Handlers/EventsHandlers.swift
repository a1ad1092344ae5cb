internal import CarpoolJSON
internal import CarpoolRPC

/// `events.*`: subscriptions and polling.
struct EventsHandlers {
    let publisher: EventPublisher
    let subscriptions: SubscriptionService
    let configuration: LiveConfiguration
    let snapshots: EventSnapshot.Sources

    var table: [String: Handler] {
        ["events.subscribe": subscribe, "events.unsubscribe": unsubscribe, "events.next": next]
    }

    // MARK: Pushed

    private func subscribe(_ call: Call) throws(RPCError) -> Answer {
        let client = call.client
        let filter = try EventFilterReader.filter(call)
        let cursor = try EventFilterReader.cursor(call)
        let ticket = try subscriptions.takeShare(for: client)
        publisher.startRecording(filter.types)
        let past = cursor.map { publisher.past(since: $0, for: filter) }
        let last = publisher.journal.last
        var position = last
        if case .known(let sequence) = past { position = sequence }
        let subscription = Subscription(
            id: "s\(publisher.nextSubscription())", filter: filter, sink: client.outlet, reader: client.identity,
            queue: EventQueue(position: position, last: last),
            lagPolicy: call.params["on_lag"]?.string.flatMap(Subscription.LagPolicy.init(rawValue:)) ?? .drop,
            progressMilliseconds: call.params["progress_interval_ms"]?.int ?? 0)
        subscription.ticket = ticket
        subscriptions.begin(subscription, of: client, announcedBy: call)
        let isGone = past == .gone
        let wantsSnapshot = call.params["snapshot"]?.bool ?? isGone
        let snapshot = EventSnapshot(sources: snapshots, scope: filter.scope, uid: client.uid, room: client.recordBytes)
        let start = publisher.cursor(at: position)
        return .result { writer in
            writer.beginObject()
            writer.member("sub", subscription.id)
            writer.member("types", filter.patterns)
            writer.member("cursor", start)
            if isGone { writer.member("gap", true) }
            if wantsSnapshot {
                writer.key("snapshot")
                snapshot.write(to: &writer)
            }
            writer.endObject()
        }
    }

    private func unsubscribe(_ call: Call) throws(RPCError) -> Answer {
        let id = call.params["sub"]?.string ?? ""
        let subscription = call.client.resources.subscriptions.removeValue(forKey: id)
        if let subscription { publisher.remove(subscription) }
        return .result { StateChange.write(subscription != nil, state: "unsubscribed", to: &$0) }
    }

    // MARK: Pulled

    private func next(_ call: Call) throws(RPCError) -> Answer {
        let filter = try EventFilterReader.filter(call)
        let cursor = try EventFilterReader.cursor(call)
        publisher.startRecording(filter.types)
        let last = publisher.journal.last
        switch cursor.map({ publisher.past(since: $0, for: filter) }) ?? .known(after: last) {
        case .gone:
            publisher.lingerIfNobodyListens()
            let snapshot = EventSnapshot(
                sources: snapshots, scope: filter.scope, uid: call.client.uid, room: call.client.recordBytes)
            let cursor = publisher.cursor
            return .result { writer in
                writer.beginObject()
                writer.key("events")
                writer.beginArray()
                writer.endArray()
                writer.member("cursor", cursor)
                writer.member("gap", true)
                writer.key("snapshot")
                snapshot.write(to: &writer)
                writer.endObject()
            }
        case .known(let position):
            let timeout = call.params["timeout_ms"]?.int ?? configuration.limits.longPollMilliseconds
            let poll = EventPoll(
                call, filter: filter, after: position, maximum: call.params["max"]?.int ?? 100,
                timeoutMilliseconds: min(timeout, configuration.limits.longPollMilliseconds), publisher: publisher)
            poll.begin()
            return .pending
        }
    }
}
