internal import CarpoolSystem

// Who listens, and how long the journal is kept for those who may come back.
extension EventPublisher {
    /// What a reader finds of the past.
    enum Past: Equatable {
        /// Everything that has happened after this event.
        case known(after: Int)
        /// It has gone, or was never recorded.
        case gone
    }

    /// Begins to record, if nothing is recorded. What happened before is in no journal, so every cursor of before is too old.
    func startRecording(_ types: EventTypeSet) {
        loop.cancel(linger)
        if !isRecording {
            isRecording = true
            journal = EventJournal(after: journal.last &+ 1, limitBytes: limits.journalBytes)
        }
        if notificationsFloor == nil, types.intersects(.notifications) { notificationsFloor = journal.last }
    }

    /// Keeps the journal for a while when nobody listens any more.
    func lingerIfNobodyListens() {
        guard isRecording, subscriptions.isEmpty, polls.isEmpty else { return }
        guard limits.journalLingerMilliseconds > 0 else { return stopRecording() }
        loop.arm(linger, afterMilliseconds: limits.journalLingerMilliseconds)
    }

    func stopRecording() {
        isRecording = false
        notificationsFloor = nil
        loop.cancel(bookmarks)
        journal = EventJournal(after: journal.last, limitBytes: 0)
    }

    /// Whether everything is there that a filter may want of what has happened since a cursor.
    func past(since cursor: EventCursor, for filter: EventFilter) -> Past {
        guard cursor.epoch == epoch, isRecording, journal.reaches(backTo: cursor.sequence, for: filter.readers) else {
            return .gone
        }
        if filter.types.intersects(.notifications), cursor.sequence < notificationsFloor ?? .max { return .gone }
        return .known(after: cursor.sequence)
    }

    func add(_ subscription: Subscription) {
        subscription.place = subscriptions.count
        subscriptions.append(subscription)
    }

    /// Forgets a subscription; the last one takes its place, so that it costs the same however many there are.
    func remove(_ subscription: Subscription) {
        if subscription.pace != nil { loop.cancel(subscription.paceTimer) }
        guard let place = subscription.place else { return }
        subscription.place = nil
        let last = subscriptions.removeLast()
        if last !== subscription {
            subscriptions[place] = last
            last.place = place
        }
        subscription.ticket = nil
        lingerIfNobodyListens()
    }

    func add(_ poll: EventPoll) {
        poll.place = polls.count
        polls.append(poll)
    }

    func remove(_ poll: EventPoll) {
        guard let place = poll.place else { return }
        poll.place = nil
        let last = polls.removeLast()
        if last !== poll {
            polls[place] = last
            last.place = place
        }
        lingerIfNobodyListens()
    }
}
