internal import CarpoolJSON
internal import CarpoolSystem

/// A call of `events.next`: reads on in the journal, and waits if there is no event yet.
///
/// The journal may hold hundreds of thousands of events of which the call gets few, so it is searched in slices, and an
/// answer ends where a slice does: its cursor says where to continue.
final class EventPoll: EventWaiter, TurnObserver, SlicedWork {
    let filter: EventFilter
    /// Its place among those of its connection, while it waits.
    var place: Int?
    /// The connection that gets the answer.
    var sink: any EventSink { call.client.outlet }
    private let call: Call
    private let publisher: EventPublisher
    private let maximum: Int
    private let timeoutMilliseconds: Int
    /// No event up to this one matches.
    private var position: Int
    /// Whether it still looks for the first event in the journal.
    private var isSearching = true
    private var isDue = false
    private lazy var timeout = Timer { [unowned self] in endWait() }

    /// Room in the line for what surrounds the events.
    private static let surroundingBytes = 256
    /// Events that are read in one slice.
    private static let eventsPerSlice = 8_192

    /// Makes a call that reads events after a position.
    init(
        _ call: Call, filter: EventFilter, after position: Int, maximum: Int, timeoutMilliseconds: Int,
        publisher: EventPublisher
    ) {
        self.call = call
        self.filter = filter
        self.position = position
        self.maximum = maximum
        self.timeoutMilliseconds = timeoutMilliseconds
        self.publisher = publisher
    }

    /// Answers as soon as there is an event, or without events when the time is over.
    func begin() {
        publisher.add(self)
        call.onCancel = { [self] in end() }
        call.client.run(self)
    }

    /// Searches a part of the journal for the first matching event.
    func runSlice() -> Bool {
        guard !call.isAnswered else { return false }
        guard hasAllSincePosition else {
            answer()
            return false
        }
        var (isThere, looked) = (false, 0)
        let isWhole = publisher.journal.read(after: position, for: filter.readers) { event in
            looked += 1
            isThere = filter.wants(event.entry.type, about: event.entry.subject)
            if !isThere { position = event.sequence }
            return !isThere && looked < EventPoll.eventsPerSlice
        }
        if !isThere, !isWhole { return true }
        if !isThere { position = publisher.journal.last }
        isSearching = false
        if isThere || timeoutMilliseconds == 0 {
            answer()
        } else {
            publisher.loop.arm(timeout, afterMilliseconds: timeoutMilliseconds)
        }
        return false
    }

    /// Notes a matching event; other events of this turn are sent with it.
    func wake(_ sequence: Int) {
        guard !isDue, !isSearching else { return }
        isDue = true
        position = max(position, sequence &- 1)
        publisher.loop.afterTurn(self)
    }

    func turnDidEnd() {
        if !call.isAnswered { answer() }
    }

    private func end() {
        publisher.loop.cancel(timeout)
        publisher.remove(self)
    }

    /// No event matched while the call waited: it would have been woken.
    private func endWait() {
        publisher.applyFilters(of: call.client.outlet)
        if !isDue { position = publisher.journal.last }
        answer()
    }

    /// Whether the journal holds everything after the position. If not, the answer keeps the old cursor, with which the
    /// next call reports the gap.
    private var hasAllSincePosition: Bool { position >= publisher.journal.lastEvicted(for: filter.readers) }

    private func answer() {
        // The answer is written before the call ends, since the journal may end with its last reader.
        call.answer { [self] writer in
            writer.beginObject()
            writer.key("events")
            writer.beginArray()
            let last = hasAllSincePosition ? writeEvents(to: &writer) : position
            writer.endArray()
            writer.member("cursor", publisher.cursor(at: last))
            writer.endObject()
        }
        self.end()
    }

    /// Writes as many events as were asked for and fit the line, at least one. Returns the number up to which none was
    /// left out.
    private func writeEvents(to writer: inout JSONWriter) -> Int {
        let start = writer.count
        let room = call.client.recordBytes &- EventPoll.surroundingBytes
        var last = publisher.journal.last
        var (count, looked) = (0, 0)
        publisher.journal.read(after: position, for: filter.readers) { event in
            looked += 1
            guard looked <= EventPoll.eventsPerSlice else {
                last = event.sequence &- 1
                return false
            }
            guard filter.wants(event.entry.type, about: event.entry.subject) else { return true }
            let text = event.text(for: call.client.identity)
            guard count < maximum, count == 0 || writer.count &- start &+ text.count <= room else {
                last = event.sequence &- 1
                return false
            }
            // Without the brace that closes a notification.
            writer.raw(UnsafeRawBufferPointer(rebasing: text.dropLast()))
            count += 1
            return true
        }
        return last
    }
}
