internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSystem

// From the journal to the subscribers: each reads on when its connection takes more.
extension EventPublisher {
    /// Events that are looked at for one subscription at a time: a filter that wants few of a full journal must not hold the loop.
    private static let eventsPerStep = 16_384
    /// The same for one that reads what happened before it came, so that a connection full of them does not either.
    private static let eventsPerReplayStep = 2_048
    /// A subscription for which nothing has come while so many events were recorded is told where the stream stands, lest the journal leave
    /// its cursor behind.
    private static let eventsPerBookmark = 4_096

    // MARK: One more event

    /// Notes the last event for all who want it.
    func tell(_ type: Int, _ subject: EventSubject?) {
        let (sequence, size) = (journal.last, journal.lastSize)
        var hasLagged = false
        for subscription in subscriptions where subscription.heard.contains(type) {
            guard subscription.filter.follows(subject) else { continue }
            switch subscription.queue.add(sequence, bytes: size, limitBytes: limits.unreadEventBytes) {
            // Of those that wait already the sink knows.
            case .waits: if subscription.queue.waiting == 1 { subscription.sink.eventsAreWaiting() }
            case .overflows:
                dropped &+= subscription.queue.loss?.dropped ?? 0
                hasLagged = true
                subscription.sink.eventsAreWaiting()
            case .isLost: dropped &+= 1
            }
        }
        if hasLagged { closeThoseThatLag() }
        for poll in polls where poll.filter.wants(type, about: subject) { poll.wake() }
        if sequence % EventPublisher.eventsPerBookmark == 0 {
            sendBookmarks(toThoseBehind: EventPublisher.eventsPerBookmark)
        }
    }

    /// The journal is about to forget these events: a subscription that still waits for one of them has lost it, and what comes behind it.
    func overtake(_ surplus: EventJournal.Surplus) {
        var (looks, looksOfReplays) = (EventPublisher.eventsPerStep, EventPublisher.eventsPerStep)
        let types = journal.types(of: surplus)
        for subscription in subscriptions {
            let queue = subscription.queue
            guard queue.isReplaying || queue.waiting > 0, queue.position < surplus.last,
                subscription.filter.readers.includes(surplus.owner), subscription.heard.intersects(types),
                waits(subscription, forOneOf: surplus, &looks)
            else { continue }
            let count = queue.isReplaying ? unread(by: subscription, &looksOfReplays) : queue.waiting
            subscription.queue.drop(count)
            dropped &+= count
            subscription.sink.eventsAreWaiting()
        }
        closeThoseThatLag()
    }

    /// Whether a subscription waits for one of the events that go; taken for granted where that would take too many looks.
    private func waits(
        _ subscription: Subscription, forOneOf surplus: EventJournal.Surplus, _ looks: inout Int
    ) -> Bool {
        !journal.read(surplus, after: subscription.queue.position) { event in
            guard looks > 0 else { return false }
            looks &-= 1
            return !subscription.heard.contains(event.entry.type) || !subscription.filter.follows(event.entry.subject)
        }
    }

    /// How many events a replay has not reached that it wants. Where that would take too many looks at the journal, those that it has not looked
    /// at count as wanted.
    private func unread(by subscription: Subscription, _ looks: inout Int) -> Int {
        var count = 0
        var position = subscription.queue.position
        let isWhole = journal.read(after: position, for: subscription.filter.readers) { event in
            guard looks > 0 else { return false }
            looks &-= 1
            position = event.sequence
            if subscription.filter.wants(event.entry.type, about: event.entry.subject) { count &+= 1 }
            return true
        }
        return isWhole ? count : count &+ max(0, journal.last &- position)
    }

    private func closeThoseThatLag() {
        for subscription in subscriptions where subscription.lagPolicy == .close {
            guard let loss = subscription.queue.loss else { continue }
            close(subscription, .lagged) { writer in
                writer.member("dropped", loss.dropped)
                writer.member("resume", cursor(at: loss.resume))
            }
        }
    }

    // MARK: Reading on

    /// Hands a client what waits for its subscriptions, as much as it takes now. Gives whether more waits.
    func deliver(to subscriptions: some Sequence<Subscription>) -> Bool {
        var hasMore = false
        for subscription in subscriptions where subscription.isAnnounced {
            deliver(subscription)
            if subscription.queue.hasMore {
                hasMore = true
            } else if subscription.isEnding {
                close(subscription, .requestFinished)
            }
        }
        return hasMore
    }

    private func deliver(_ subscription: Subscription) {
        let sink = subscription.sink
        if let loss = subscription.queue.takeLoss(upTo: journal.last) {
            // Among the dropped ones may be the ends of what it holds.
            subscription.pace?.forgetAll()
            tell("lagged", to: subscription) { writer in
                writer.member("dropped", loss.dropped)
                writer.member("resume", cursor(at: loss.resume))
            }
        }
        if subscription.pace != nil { sendDueProgress(to: subscription) }
        guard subscription.queue.hasMore else { return }
        var looked = 0
        let limit =
            subscription.queue.isReplaying ? EventPublisher.eventsPerReplayStep : EventPublisher.eventsPerStep
        let isWhole = journal.read(after: subscription.queue.position, for: subscription.filter.readers) { event in
            looked &+= 1
            guard sink.takesEvents, looked <= limit else { return false }
            guard subscription.heard.contains(event.entry.type), subscription.filter.follows(event.entry.subject) else {
                subscription.queue.pass(event.sequence)
                return true
            }
            if subscription.pace == nil {
                sink.queue(event: subscription.head, event.rest(for: subscription.reader))
            } else {
                sendThinned(event, to: subscription)
            }
            subscription.queue.didSend(event.sequence, bytes: event.size)
            return true
        }
        if isWhole { subscription.queue.catchUp(with: journal.last) }
        if subscription.pace != nil { armPace(of: subscription) }
    }

    // MARK: The protocol's own events

    /// Sends one of the protocol's own events, which are in no journal.
    func tell(
        _ type: StaticString, to subscription: Subscription, _ data: (inout JSONWriter) -> Void = { _ in }
    ) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("cursor", cursor(at: subscription.queue.position))
        writer.member("time", time: WallClock.microseconds())
        writer.member("type", static: type)
        writer.key("data")
        writer.beginObject()
        data(&writer)
        writer.endObject()
        writer.endObject()
        writer.endObject()
        writer.withBytes { subscription.sink.queue(event: subscription.head, $0.withoutFirst) }
    }

    /// Tells those for whom nothing has come while so many events were recorded where the stream stands.
    func sendBookmarks(toThoseBehind count: Int) {
        for subscription in subscriptions where subscription.isAnnounced && !subscription.isOfOneRequest {
            guard !subscription.queue.hasMore, journal.last &- subscription.queue.position >= count,
                subscription.sink.takesEvents
            else { continue }
            subscription.queue.catchUp(with: journal.last)
            tell("bookmark", to: subscription)
            subscription.sink.eventsAreWaiting()
        }
    }

    /// Ends a subscription, and says so on its connection.
    func close(
        _ subscription: Subscription, _ reason: Subscription.Ending, _ data: (inout JSONWriter) -> Void = { _ in }
    ) {
        tell("subscription.closed", to: subscription) { writer in
            writer.member("reason", reason.rawValue)
            data(&writer)
        }
        remove(subscription)
        subscription.sink.forget(subscription)
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
