internal import CarpoolSystem

// Subscribers, and how long the journal is kept for those that may reconnect.
extension EventPublisher {
    /// Which past events a reader can get.
    enum Past: Equatable {
        /// All events after this one.
        case known(after: Int)
        /// The events were removed, or never recorded.
        case gone
    }

    /// Begins to record what a reader of these types needs. Earlier events are not in the journal, so every earlier
    /// cursor is too old.
    /// - Parameter mayBeResumed: whether the reader may resume with a cursor on another connection. The journal is
    ///   kept for a while after such readers alone.
    func startRecording(_ types: EventTypeSet, mayBeResumed: Bool = true) {
        loop.cancel(linger)
        loop.cancel(reduction)
        if isReduced {
            isReduced = false
            journal.limitBytes = limits.journalBytes
        }
        self.mayBeResumed = self.mayBeResumed || mayBeResumed
        if !isRecording {
            isRecording = true
            journal = EventJournal(after: journal.last &+ 1, limitBytes: limits.journalBytes)
        }
        recorded.add(types, after: journal.last)
    }

    /// How long the whole journal is kept when there is no subscriber, in milliseconds: programs that reconnect do it
    /// sooner. Then only as much is kept as may wait for one subscription.
    private static let wholeMilliseconds = 60_000

    /// Keeps the journal for a while after the last subscriber has left, if one may resume.
    func lingerIfNobodyListens() {
        guard isRecording, subscriptionCount == 0, pollCount == 0 else { return }
        guard limits.journalLingerMilliseconds > 0, mayBeResumed else { return stopRecording() }
        loop.arm(linger, afterMilliseconds: limits.journalLingerMilliseconds)
        loop.arm(reduction, afterMilliseconds: EventPublisher.wholeMilliseconds)
    }

    func stopRecording() {
        isRecording = false
        mayBeResumed = false
        recorded = RecordedTypes()
        isReduced = false
        loop.cancel(reduction)
        loop.cancel(bookmarks)
        let segments = journal.segments
        journal = EventJournal(after: journal.last, limitBytes: 0)
        // Hundreds of thousands of events at once would take 16 ms.
        if !segments.isEmpty { loop.runInSlices(Slices.forEach(of: segments) { _ in }) }
    }

    /// Maximum size of the journal now.
    private var maximumBytes: Int {
        isReduced ? min(limits.journalBytes, limits.unreadEventBytes) : limits.journalBytes
    }

    /// Shrinks the journal to its maximum, one segment at a time: every subscriber is checked for each.
    func limitJournal() {
        journal.limitBytes = max(maximumBytes, journal.size)
        guard journal.limitBytes > maximumBytes else { return }
        loop.runInSlices(Slices { [weak self] in self?.shrinkJournal() ?? false })
    }

    private func shrinkJournal() -> Bool {
        journal.limitBytes = max(maximumBytes, journal.limitBytes &- EventJournal.segmentBytes)
        if let excess = journal.excess {
            willRemove(excess)
            journal.forget(excess)
        }
        return journal.limitBytes > maximumBytes || journal.excess != nil
    }

    /// Whether the journal has all events since a cursor that may pass a filter.
    func past(since cursor: EventCursor, for filter: EventFilter) -> Past {
        guard cursor.epoch == epoch, isRecording, journal.containsAll(after: cursor.sequence, for: filter.readers)
        else {
            return .gone
        }
        guard recorded.hasAll(of: filter.types, after: cursor.sequence) else { return .gone }
        return .known(after: cursor.sequence)
    }

    /// All subscriptions.
    var subscriptions: [Subscription] { listeners.all.flatMap(\.subscriptions) }

    func add(_ subscription: Subscription) {
        let listener = listener(subscription.sink, subscription.filter)
        subscriptionCount += 1
        listener.add(subscription)
    }

    /// Removes a subscription, in constant time.
    func remove(_ subscription: Subscription) {
        if subscription.throttle != nil { loop.cancel(subscription.throttleTimer) }
        guard let listener = subscription.listener, listener.remove(subscription) else { return }
        subscriptionCount -= 1
        subscription.ticket = nil
        dropIfEmpty(listener)
    }

    func add(_ poll: any EventWaiter) {
        let listener = listener(poll.sink, poll.filter)
        pollCount += 1
        listener.add(poll)
    }

    func remove(_ poll: any EventWaiter) {
        guard let listener = listeners[poll.sink], listener.remove(poll) else { return }
        pollCount -= 1
        dropIfEmpty(listener)
    }

    /// The listener of a connection, with all filters applied: a new subscription does not get earlier events.
    private func listener(_ sink: any EventSink, _ filter: EventFilter) -> EventListener {
        if let known = listeners[sink] {
            applyFilters(of: known)
            // Unless filtering has closed its last subscription.
            if known.place != nil { return known }
        }
        let new = EventListener(sink, readers: filter.readers, publisher: self)
        listeners.add(new)
        return new
    }

    private func dropIfEmpty(_ listener: EventListener) {
        guard listener.isEmpty else { return }
        listeners.remove(listener)
        lingerIfNobodyListens()
    }
}
