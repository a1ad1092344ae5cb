internal import CarpoolRPC
internal import CarpoolSystem

extension Connection: EventSink {
    /// Unread output at which no more events are queued: they wait in the journal, which all subscribers share.
    private static let unreadEventBytes = 262_144

    var takesEvents: Bool { !isClosed && hasRoom(below: Connection.unreadEventBytes) }

    func eventsAreWaiting() {
        guard !hasEvents, !isClosed else { return }
        hasEvents = true
        guard services.publisher.hasManyListeners else { return flushAfterTurn() }
        eventSlices.begin(self)
    }

    func queue(event head: [UInt8], _ rest: UnsafeRawBufferPointer) {
        guard !isHungUp else { return }
        output.append { framer.frame(head, rest, into: &$0) }
    }

    func forget(subscription id: String) {
        resources.subscriptions[id] = nil
        flushAfterTurn()
    }

    /// Queues waiting events from the journal, as far as there is room.
    func takeEvents() {
        guard hasEvents else { return }
        hasEvents = services.publisher.deliver(to: resources.subscriptions.values)
    }
}

/// Sends the events of a connection among the loop's sliced work, and not when the turn ends: with many listeners the
/// answers of other clients would wait for all of their events.
final class EventSlices: SlicedWork {
    /// The connection, while a slice is due.
    private var connection: Connection?

    /// Whether a slice will run.
    var areDue: Bool { connection != nil }

    func begin(_ connection: Connection) {
        guard self.connection == nil else { return }
        self.connection = connection
        connection.services.loop.runInSlices(self)
    }

    func runSlice() -> Bool {
        let due = connection
        connection = nil
        due?.flush()
        return false
    }
}
