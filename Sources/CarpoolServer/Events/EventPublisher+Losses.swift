internal import CarpoolJSON

// Lost events: those that the journal removes before they are read.
extension EventPublisher {
    /// Checks of removed events for subscriptions that wait for others: two segments for each listener, and more for
    /// some.
    private static let checks = CheckBudget(own: 1_024, shared: 65_536, total: 524_288)
    /// Checks of events that were not filtered before they are removed.
    private static let filterChecks = CheckBudget(own: 4_096, shared: 262_144, total: 1_048_576)
    /// Events that are checked to count what replays lose.
    private static let replayChecks = 16_384

    /// Called before the journal removes these events: a subscription that still waits for one of them loses it and the
    /// following ones.
    func willRemove(_ events: EventJournal.EvictedEvents) {
        var (checks, filterChecks) = (EventPublisher.checks, EventPublisher.filterChecks)
        var replayChecks = EventPublisher.replayChecks
        let types = journal.types(of: events)
        for listener in listeners.all where listener.readers.includes(events.owner) {
            checks.begin()
            filterChecks.begin()
            applyFilters(of: listener, upTo: events, &filterChecks)
            guard listener.hasUnread, listener.eventTypes.intersects(types) else { continue }
            for subscription in listener.subscriptions {
                let queue = subscription.queue
                guard queue.isReplaying || queue.waiting > 0, queue.position < events.last,
                    subscription.filter.readers.includes(events.owner), subscription.eventTypes.intersects(types),
                    waits(subscription, forOneOf: events, &checks)
                else { continue }
                lose(subscription, queue.isReplaying ? unread(by: subscription, &replayChecks) : queue.waiting)
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
    /// listeners with so many events that it would take too long, the rest is dropped unfiltered.
    private func applyFilters(
        of listener: EventListener, upTo events: EventJournal.EvictedEvents, _ checks: inout CheckBudget
    ) {
        guard listener.isBehind, listener.lastFiltered < events.last else { return }
        var (hasLagged, isSpent) = (false, false)
        let share = 1 + listener.subscriptions.count + listener.polls.count
        journal.read(after: listener.lastFiltered, for: listener.readers) { event in
            guard event.sequence <= events.last else { return false }
            isSpent = !checks.take(listener.eventTypes.contains(event.entry.type) ? share : 1)
            guard !isSpent else { return false }
            applyFilters(to: event, of: listener, &hasLagged)
            listener.lastFiltered = event.sequence
            return true
        }
        if isSpent { dropUnfiltered(events, of: listener) }
        listener.lastFiltered = events.last
        if hasLagged || isSpent { listener.closeThoseThatLagAtTurnEnd() }
    }

    /// Counts the waiting events of the subscriptions that may match as lost, and wakes the calls that wait for events.
    private func dropUnfiltered(_ events: EventJournal.EvictedEvents, of listener: EventListener) {
        for poll in listener.polls { poll.wake(listener.lastFiltered &+ 1) }
        let types = journal.types(of: events)
        for subscription in listener.subscriptions
        where subscription.queue.loss == nil && subscription.queue.position < events.last
            && subscription.filter.readers.includes(events.owner) && subscription.eventTypes.intersects(types)
        {
            lose(subscription, subscription.queue.waiting)
        }
    }

    /// Whether a subscription waits for one of the removed events; assumed if that would take too many checks.
    private func waits(
        _ subscription: Subscription, forOneOf events: EventJournal.EvictedEvents, _ checks: inout CheckBudget
    ) -> Bool {
        !journal.read(events, after: subscription.queue.position) { event in
            guard checks.take() else { return false }
            return !subscription.eventTypes.contains(event.entry.type)
                || !subscription.filter.follows(event.entry.subject)
        }
    }

    /// How many events of a replay have not been sent. If counting would take too long, events that were not checked
    /// count as matching.
    private func unread(by subscription: Subscription, _ checks: inout Int) -> Int {
        var count = 0
        var position = subscription.queue.position
        let isWhole = journal.read(after: position, for: subscription.filter.readers) { event in
            guard checks > 0 else { return false }
            checks -= 1
            position = event.sequence
            if subscription.filter.wants(event.entry.type, about: event.entry.subject) { count += 1 }
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
