internal import CarpoolRPC
internal import CarpoolSystem

/// One connection's subscriptions, and its calls that wait for an event.
///
/// An event costs one check per listener, however many subscriptions it has. Which subscriptions get the event is
/// decided when the connection has its turn: until then the listener is behind, and reads the journal from there.
final class EventListener: TurnObserver, SlicedWork {
    /// The receiver of the events, which exists as long as there are subscriptions.
    unowned let sink: any EventSink
    unowned let publisher: EventPublisher
    private(set) var subscriptions: [Subscription] = []
    /// The interest of each subscription, in the same order: most events are filtered without reading the subscriptions
    /// themselves.
    private(set) var interests: [Interest] = []
    /// Calls that wait for an event.
    private(set) var polls: [any EventWaiter] = []
    /// The interest of each of these calls, in the same order.
    private(set) var pollInterests: [Interest] = []
    /// Types that at least one subscription or call matches; some may be left over from removed ones.
    private(set) var eventTypes = EventTypeSet()
    /// The users whose events may pass.
    private(set) var readers: EventJournal.Readership
    /// Whether there are events that were not filtered yet.
    var isBehind = false
    /// The last event that was filtered, while it is behind.
    var lastFiltered = 0
    /// Its place among all listeners, while it is one of them.
    var place: Int?
    /// Whether events may wait for a subscription. If not, the journal may remove any event.
    var hasUnread = false
    /// Whether a subscription with the policy `close` has lost events.
    private var hasLagged = false
    /// How many events a subscription has to be behind to be sent a bookmark at the end of the turn.
    private var bookmarkDistance: Int?

    /// The types and the filter of one subscription or call.
    struct Interest {
        let types: EventTypeSet
        let filter: EventFilter

        /// Whether an event passes.
        @inline(__always)
        func wants(_ type: EventType, about subject: EventSubject?) -> Bool {
            types.contains(type) && filter.follows(subject)
        }
    }

    init(_ sink: any EventSink, readers: EventJournal.Readership, publisher: EventPublisher) {
        self.sink = sink
        self.readers = readers
        self.publisher = publisher
    }

    var isEmpty: Bool { subscriptions.isEmpty && polls.isEmpty }

    /// Listeners with more subscriptions and calls than these are marked for every event of their types, without
    /// checking each subscription.
    private static let filteredAtOnce = 4

    /// Whether an event may pass one of the filters.
    @inline(__always)
    func mayWant(_ type: EventType, _ subject: EventSubject?) -> Bool {
        guard eventTypes.contains(type), readers.includes(subject?.uid) else { return false }
        guard interests.count &+ polls.count <= EventListener.filteredAtOnce else { return true }
        return interests.contains { $0.wants(type, about: subject) }
            || pollInterests.contains { $0.wants(type, about: subject) }
    }

    // MARK: Subscriptions and calls

    func add(_ subscription: Subscription) {
        subscription.listener = self
        subscription.place = subscriptions.count
        subscriptions.append(subscription)
        interests.append(Interest(types: subscription.eventTypes, filter: subscription.filter))
        if subscription.queue.hasMore { hasUnread = true }
        widen(subscription.eventTypes, subscription.filter.readers)
    }

    /// Takes a subscription out; the last one takes its place. Returns whether it was there.
    func remove(_ subscription: Subscription) -> Bool {
        guard let place = subscription.place, let last = subscriptions.popLast(), let interest = interests.popLast()
        else { return false }
        if last !== subscription {
            (subscriptions[place], interests[place]) = (last, interest)
            last.place = place
        }
        subscription.place = nil
        subscription.listener = nil
        // Not each time: too many types only cost time.
        if subscriptions.count & (subscriptions.count &- 1) == 0 { narrow() }
        return true
    }

    func add(_ poll: any EventWaiter) {
        poll.place = polls.count
        polls.append(poll)
        pollInterests.append(Interest(types: poll.filter.types, filter: poll.filter))
        widen(poll.filter.types, poll.filter.readers)
    }

    /// Takes a call out; the last one takes its place. Returns whether it was there.
    func remove(_ poll: any EventWaiter) -> Bool {
        guard let place = poll.place, let last = polls.popLast(), let interest = pollInterests.popLast() else {
            return false
        }
        if last !== poll {
            (polls[place], pollInterests[place]) = (last, interest)
            last.place = place
        }
        poll.place = nil
        // Not for each of hundreds of calls.
        if polls.isEmpty { narrow() }
        return true
    }

    private func widen(_ types: EventTypeSet, _ wanted: EventJournal.Readership) {
        eventTypes.formUnion(types)
        if wanted == .everyone { readers = .everyone }
    }

    private func narrow() {
        eventTypes = EventTypeSet()
        guard let first = subscriptions.first?.filter.readers ?? polls.first?.filter.readers else { return }
        readers = first
        for subscription in subscriptions { widen(subscription.eventTypes, subscription.filter.readers) }
        for poll in polls { widen(poll.filter.types, poll.filter.readers) }
    }

    // MARK: Turns

    /// Sends a bookmark to subscriptions that are so many events behind, at the end of the turn or soon after it.
    func sendBookmarks(toThoseBehind count: Int) {
        guard !subscriptions.isEmpty else { return }
        if bookmarkDistance == nil { beginTurn() }
        bookmarkDistance = min(count, bookmarkDistance ?? count)
    }

    /// Closes subscriptions that have lost events, at the end of the turn or soon after it: there may be thousands in
    /// all.
    func closeThoseThatLagAtTurnEnd() {
        if !hasLagged { beginTurn() }
        hasLagged = true
    }

    /// Closes subscriptions that have lost events, if that is due.
    func closeThoseThatLag() {
        guard hasLagged else { return }
        hasLagged = false
        publisher.closeThoseThatLag(of: self)
    }

    /// Each of many listeners may have thousands of events to filter, and the answers of other clients would wait for
    /// all of them at the end of the turn.
    private func beginTurn() {
        if publisher.hasManyListeners { publisher.loop.runInSlices(self) } else { publisher.loop.afterTurn(self) }
    }

    func runSlice() -> Bool {
        turnDidEnd()
        return false
    }

    func turnDidEnd() {
        closeThoseThatLag()
        publisher.applyFilters(of: self)
        guard let count = bookmarkDistance else { return }
        bookmarkDistance = nil
        publisher.sendBookmarks(to: self, behind: count)
    }
}

/// All listeners: found by their sinks, and visited for every event.
struct EventListeners {
    private(set) var all: [EventListener] = []
    private var bySink: [ObjectIdentifier: EventListener] = [:]

    subscript(sink: any EventSink) -> EventListener? { bySink[ObjectIdentifier(sink)] }

    mutating func add(_ listener: EventListener) {
        listener.place = all.count
        all.append(listener)
        bySink[ObjectIdentifier(listener.sink)] = listener
    }

    /// Takes one out; the last one takes its place.
    mutating func remove(_ listener: EventListener) {
        guard let place = listener.place, let last = all.popLast() else { return }
        if last !== listener {
            all[place] = last
            last.place = place
        }
        listener.place = nil
        bySink[ObjectIdentifier(listener.sink)] = nil
    }
}
