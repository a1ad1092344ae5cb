internal import CarpoolJSON
internal import CarpoolRPC

/// `events.*`: who wants to hear what.
struct EventsHandlers {
    unowned let server: Server

    var table: [String: Handler] {
        ["events.subscribe": subscribe, "events.unsubscribe": unsubscribe, "events.next": next]
    }

    private var publisher: EventPublisher { server.publisher }

    // MARK: Pushed

    private func subscribe(_ call: Call) throws(RPCError) -> Answer {
        let client = call.client
        let filter = try EventFilterReader.filter(call)
        let cursor = try EventFilterReader.cursor(call)
        let ticket = try server.takeSubscription(for: client)
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
        server.begin(subscription, of: client, announcedBy: call)
        let isGone = past == .gone
        let wantsSnapshot = call.params["snapshot"]?.bool ?? isGone
        let snapshot = EventSnapshot(server: server, scope: filter.scope, uid: client.uid, room: client.recordBytes)
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
                server: server, scope: filter.scope, uid: call.client.uid, room: call.client.recordBytes)
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
            let timeout = call.params["timeout_ms"]?.int ?? server.limits.longPollMilliseconds
            let poll = EventPoll(
                call, filter: filter, after: position, maximum: call.params["max"]?.int ?? 100,
                timeoutMilliseconds: min(timeout, server.limits.longPollMilliseconds), publisher: publisher)
            poll.begin()
            return .pending
        }
    }
}

extension Server {
    /// A client's share for one more subscription or watch, if there is room for it.
    func takeSubscription(for client: any Client) throws(RPCError) -> QuotaLedger.Ticket {
        guard client.resources.subscriptions.count + client.resources.watches.count < limits.subscriptionsPerConnection
        else {
            throw .tooManySubscriptions(limit: limits.subscriptionsPerConnection)
        }
        do throws(Quota.Refusal) {
            return try subscriptionQuota.take(for: client.identity, limits.subscriptionBounds)
        } catch {
            throw .tooManySubscriptions(error)
        }
    }

    /// Begins a subscription; its events come after the answer of the call that names it.
    func begin(_ subscription: Subscription, of client: any Client, announcedBy call: Call) {
        client.resources.subscriptions[subscription.id] = subscription
        publisher.add(subscription)
        call.onAnswered = { [weak client] in
            subscription.isAnnounced = true
            if subscription.queue.hasMore || subscription.isEnding { client?.outlet.eventsAreWaiting() }
        }
    }
}
