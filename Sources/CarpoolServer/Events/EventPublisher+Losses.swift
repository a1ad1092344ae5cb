internal import CarpoolJSON

// What is lost to those who do not read: events that the journal forgets before.
extension EventPublisher {
    /// Looks at the events that go, for subscriptions that wait for others: two segments for each listener, and more for some.
    private static let looks = LookBudget(own: 1_024, shared: 65_536, total: 524_288)
    /// Judgements of events that no one has come to judge before they go.
    private static let judgements = LookBudget(own: 4_096, shared: 262_144, total: 1_048_576)
    /// Events that are counted as lost for replays.
    private static let looksOfReplays = 16_384

    /// The journal is about to forget these events: a subscription that still waits for one of them has lost it, and what comes behind it.
    func overtake(_ surplus: EventJournal.Surplus) {
        var (looks, judgements) = (EventPublisher.looks, EventPublisher.judgements)
        var looksOfReplays = EventPublisher.looksOfReplays
        let types = journal.types(of: surplus)
        for listener in listeners.all where listener.readers.includes(surplus.owner) {
            looks.begin()
            judgements.begin()
            judge(for: listener, upTo: surplus, &judgements)
            guard listener.hasUnread, listener.heard.intersects(types) else { continue }
            for subscription in listener.subscriptions {
                let queue = subscription.queue
                guard queue.isReplaying || queue.waiting > 0, queue.position < surplus.last,
                    subscription.filter.readers.includes(surplus.owner), subscription.heard.intersects(types),
                    waits(subscription, forOneOf: surplus, &looks)
                else { continue }
                lose(subscription, queue.isReplaying ? unread(by: subscription, &looksOfReplays) : queue.waiting)
            }
            if listener.subscriptions.contains(where: \.isToCloseForLag) { listener.closeThoseThatLagAtTurnEnd() }
        }
    }

    private func lose(_ subscription: Subscription, _ count: Int) {
        subscription.queue.drop(count)
        dropped &+= count
        subscription.sink.eventsAreWaiting()
    }

    /// Has a listener judge what it has not judged yet of the events up to the last that goes. Where there are so many listeners with so much to
    /// judge that it would take too long, what waits counts as lost.
    private func judge(for listener: EventListener, upTo surplus: EventJournal.Surplus, _ judgements: inout LookBudget)
    {
        guard listener.isBehind, listener.judged < surplus.last else { return }
        var (hasLagged, isSpent) = (false, false)
        let share = 1 + listener.subscriptions.count + listener.polls.count
        journal.read(after: listener.judged, for: listener.readers) { event in
            guard event.sequence <= surplus.last else { return false }
            isSpent = !judgements.take(listener.heard.contains(event.entry.type) ? share : 1)
            guard !isSpent else { return false }
            judge(event, for: listener, &hasLagged)
            listener.judged = event.sequence
            return true
        }
        if isSpent {
            for poll in listener.polls { poll.wake(listener.judged &+ 1) }
            let types = journal.types(of: surplus)
            for subscription in listener.subscriptions
            where subscription.queue.loss == nil && subscription.queue.position < surplus.last
                && subscription.filter.readers.includes(surplus.owner) && subscription.heard.intersects(types)
            {
                lose(subscription, subscription.queue.waiting)
            }
        }
        listener.judged = surplus.last
        if hasLagged || isSpent { listener.closeThoseThatLagAtTurnEnd() }
    }

    /// Whether a subscription waits for one of the events that go; taken for granted where that would take too many looks.
    private func waits(
        _ subscription: Subscription, forOneOf surplus: EventJournal.Surplus, _ looks: inout LookBudget
    ) -> Bool {
        !journal.read(surplus, after: subscription.queue.position) { event in
            guard looks.take() else { return false }
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

    /// Ends the subscriptions of a listener that have lost something and are to end then.
    func closeThoseThatLag(of listener: EventListener) {
        for subscription in listener.subscriptions where subscription.isToCloseForLag {
            guard let loss = subscription.queue.loss else { continue }
            close(subscription, .lagged) { writer in
                writer.member("dropped", loss.dropped)
                writer.member("resume", cursor(at: loss.resume))
            }
        }
    }
}
