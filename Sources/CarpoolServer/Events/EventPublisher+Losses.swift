internal import CarpoolJSON

// Lost events: those that the journal removes before they are read.
extension EventPublisher {
    /// Checks of removed events for subscriptions that wait for others: two segments for each listener, and more for
    /// some.
    private static let looks = LookBudget(own: 1_024, shared: 65_536, total: 524_288)
    /// Checks of events that were not filtered before they are removed.
    private static let judgements = LookBudget(own: 4_096, shared: 262_144, total: 1_048_576)
    /// Events that are checked to count what replays lose.
    private static let looksOfReplays = 16_384

    /// Called before the journal removes these events: a subscription that still waits for one of them loses it and the
    /// following ones.
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

    /// Applies the filters of a listener to the events up to the last one that is removed. If there are so many
    /// listeners with so many events that it would take too long, the waiting events count as lost.
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

    /// Whether a subscription waits for one of the removed events; assumed if that would take too many checks.
    private func waits(
        _ subscription: Subscription, forOneOf surplus: EventJournal.Surplus, _ looks: inout LookBudget
    ) -> Bool {
        !journal.read(surplus, after: subscription.queue.position) { event in
            guard looks.take() else { return false }
            return !subscription.heard.contains(event.entry.type) || !subscription.filter.follows(event.entry.subject)
        }
    }

    /// How many events of a replay have not been sent. If counting would take too long, events that were not checked
    /// count as matching.
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

    /// Closes the subscriptions of a listener that have lost events and have the policy `close`.
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
