internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSystem

// From the journal to the subscribers: each reads on when its connection takes more.
extension EventPublisher {
    /// Events that are read for one subscription at a time: a filter that passes few events of a full journal must not
    /// block the loop.
    private static let eventsPerStep = 16_384
    /// The same for a subscription that replays past events, so that a connection with many of them does not block the
    /// loop either.
    private static let eventsPerReplayStep = 2_048
    /// After this many non-matching events a subscription gets a bookmark, so that its cursor stays inside the journal.
    private static let eventsPerBookmark = 4_096

    /// Up to this many listeners get their events at the end of the turn.
    private static let listenersAtTurnEnd = 8

    /// Whether there are so many listeners that sending an event to all of them takes long.
    var hasManyListeners: Bool { listeners.all.count > EventPublisher.listenersAtTurnEnd }

    // MARK: One more event

    /// Notifies the listeners whose filters the last event may pass.
    func notifyListeners(_ type: EventType, _ subject: EventSubject?) {
        let sequence = journal.last
        for listener in listeners.all where !listener.isBehind && listener.mayWant(type, subject) {
            listener.isBehind = true
            listener.lastFiltered = sequence &- 1
            if !listener.polls.isEmpty { loop.afterTurn(listener) }
            if !listener.subscriptions.isEmpty { listener.sink.eventsAreWaiting() }
        }
        guard sequence % EventPublisher.eventsPerBookmark == 0 else { return }
        for listener in listeners.all { listener.sendBookmarks(toThoseBehind: EventPublisher.eventsPerBookmark) }
    }

    /// Applies the filters of a client to the events since the last time.
    func applyFilters(of sink: any EventSink) {
        if let listener = listeners[sink] { applyFilters(of: listener) }
    }

    /// Applies the filters of a listener to the events since the last time.
    func applyFilters(of listener: EventListener) {
        guard listener.isBehind else { return }
        listener.isBehind = false
        var hasLagged = false
        journal.read(after: listener.lastFiltered, for: listener.readers) { event in
            applyFilters(to: event, of: listener, &hasLagged)
            return true
        }
        if hasLagged { closeThoseThatLag(of: listener) }
    }

    /// Adds an event to the subscriptions and calls of a listener whose filters it passes.
    func applyFilters(to event: borrowing EventJournal.Event, of listener: EventListener, _ hasLagged: inout Bool) {
        let (entry, sequence) = (event.entry, event.sequence)
        guard listener.eventTypes.contains(entry.type) else { return }
        let interests = listener.interests
        for index in interests.indices where interests[index].wants(entry.type, about: entry.subject) {
            let subscription = listener.subscriptions[index]
            listener.hasUnread = true
            switch subscription.queue.add(sequence, bytes: event.size, limitBytes: limits.unreadEventBytes) {
            // The sink knows of those that wait already.
            case .waits: if subscription.queue.waiting == 1 { subscription.sink.eventsAreWaiting() }
            case .overflows:
                dropped &+= subscription.queue.loss?.dropped ?? 0
                hasLagged = true
                subscription.sink.eventsAreWaiting()
            case .isLost: dropped += 1
            }
        }
        let pollInterests = listener.pollInterests
        for index in pollInterests.indices where pollInterests[index].wants(entry.type, about: entry.subject) {
            listener.polls[index].wake(sequence)
        }
    }

    // MARK: Reading on

    /// Sends waiting events to a client, as far as it has room for them. Returns whether more wait.
    func deliver(to subscriptions: some Sequence<Subscription>) -> Bool {
        guard let listener = subscriptions.first(where: { $0.listener != nil })?.listener else { return false }
        applyFilters(of: listener)
        listener.closeThoseThatLag()
        guard listener.sink.takesEvents else {
            return listener.subscriptions.contains { $0.isAnnounced && $0.wantsTurn }
        }
        var hasMore = false
        for subscription in subscriptions where subscription.wantsTurn && subscription.isAnnounced {
            guard subscription.place != nil else { continue }
            deliver(subscription)
            if subscription.queue.hasMore {
                hasMore = true
            } else if subscription.isEnding {
                close(subscription, .requestFinished)
            }
        }
        listener.hasUnread = listener.subscriptions.contains { $0.queue.hasMore }
        return hasMore
    }

    private func deliver(_ subscription: Subscription) {
        let sink = subscription.sink
        if let loss = subscription.queue.takeLoss(upTo: journal.last) {
            // The dropped events may include the end of a request whose progress the throttle still holds.
            subscription.throttle?.forgetAll()
            send(.lagged, to: subscription) { writer in
                writer.member("dropped", loss.dropped)
                writer.member("resume", cursor(at: loss.resume))
            }
        }
        if subscription.throttle != nil { sendDueProgress(to: subscription) }
        guard subscription.queue.hasMore else { return }
        var looked = 0
        let limit =
            subscription.queue.isReplaying ? EventPublisher.eventsPerReplayStep : EventPublisher.eventsPerStep
        let isWhole = journal.read(after: subscription.queue.position, for: subscription.filter.readers) { event in
            looked += 1
            guard sink.takesEvents, looked <= limit else { return false }
            guard subscription.eventTypes.contains(event.entry.type), subscription.filter.follows(event.entry.subject)
            else {
                subscription.queue.skip(to: event.sequence)
                return true
            }
            if subscription.throttle == nil {
                sink.queue(event: subscription.head, event.rest(for: subscription.reader))
            } else {
                sendThrottled(event, to: subscription)
            }
            subscription.queue.didSend(event.sequence, bytes: event.size)
            return true
        }
        if isWhole { subscription.queue.catchUp(with: journal.last) }
        if subscription.throttle != nil { armThrottle(of: subscription) }
    }

    // MARK: The protocol's own events

    /// Sends one of the protocol's own events, which are in no journal.
    func send(
        _ type: EventType, to subscription: Subscription, _ data: (inout JSONWriter) -> Void = { _ in }
    ) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("cursor", cursor(at: subscription.queue.position))
        writer.member("time", time: WallClock.microseconds())
        writer.member("type", static: type.name)
        writer.key("data")
        writer.beginObject()
        data(&writer)
        writer.endObject()
        writer.endObject()
        writer.endObject()
        writer.withBytes { subscription.sink.queue(event: subscription.head, $0.withoutFirst) }
    }

    /// Sends a bookmark to the subscriptions of a listener that are so many events behind.
    func sendBookmarks(to listener: EventListener, behind count: Int) {
        for subscription in listener.subscriptions where subscription.isAnnounced && !subscription.isOfOneRequest {
            guard !subscription.queue.hasMore, journal.last &- subscription.queue.position >= count,
                subscription.sink.takesEvents
            else { continue }
            subscription.queue.catchUp(with: journal.last)
            send(.bookmark, to: subscription)
            subscription.sink.eventsAreWaiting()
        }
    }

    /// Closes a subscription, and notifies its client.
    func close(
        _ subscription: Subscription, _ reason: Subscription.Ending, _ data: (inout JSONWriter) -> Void = { _ in }
    ) {
        send(.subscriptionClosed, to: subscription) { writer in
            writer.member("reason", reason.rawValue)
            data(&writer)
        }
        remove(subscription)
        subscription.sink.forget(subscription: subscription.id)
    }
}

extension EventJournal.Event {
    /// What follows the beginning of the notification: the event without its first brace.
    fileprivate func rest(for reader: ClientIdentity) -> UnsafeRawBufferPointer { text(for: reader).withoutFirst }
}

extension UnsafeRawBufferPointer {
    /// Without the first byte.
    var withoutFirst: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: dropFirst()) }
}
