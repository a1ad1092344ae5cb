internal import CarpoolJSON
internal import CarpoolSystem

/// A call that reads on in the journal, and waits if there is nothing yet.
final class EventPoll: TurnObserver {
    let filter: EventFilter
    private let call: Call
    private let publisher: EventPublisher
    private let position: Int
    private let maximum: Int
    private var isDue = false
    private lazy var timeout = Timer { [unowned self] in answer() }

    /// Room in the line for what surrounds the events.
    private static let surroundingBytes = 256

    /// A call that wants what comes after a position.
    init(_ call: Call, filter: EventFilter, after position: Int, maximum: Int, publisher: EventPublisher) {
        self.call = call
        self.filter = filter
        self.position = position
        self.maximum = maximum
        self.publisher = publisher
    }

    /// Answers at once if there is something to tell, else as soon as there is, or with nothing when the time is over.
    func begin(timeoutMilliseconds: Int) {
        var isThere = false
        publisher.journal.read(after: position) { event in
            isThere = filter.wants(event.entry.type, about: event.entry.subject)
            return !isThere
        }
        publisher.add(self)
        guard !isThere, timeoutMilliseconds > 0 else { return answer() }
        publisher.loop.arm(timeout, afterMilliseconds: timeoutMilliseconds)
        call.onCancel = { [self] in end() }
    }

    /// Something has happened that it wants; what else happens in this turn goes with it.
    func wake() {
        guard !isDue else { return }
        isDue = true
        publisher.loop.afterTurn(self)
    }

    func turnDidEnd() {
        if !call.isAnswered { answer() }
    }

    private func end() {
        publisher.loop.cancel(timeout)
        publisher.remove(self)
    }

    private func answer() {
        // Written before it lets go: the journal may end with its last reader.
        call.answer { [self] writer in
            writer.beginObject()
            writer.key("events")
            let last = writeEvents(to: &writer)
            writer.member("cursor", publisher.cursor(at: last))
            writer.endObject()
        }
        end()
    }

    /// Writes as many as were asked for and fit the line, at least one; gives the number up to which nothing was left out.
    private func writeEvents(to writer: inout JSONWriter) -> Int {
        writer.beginArray()
        let start = writer.count
        let room = call.client.recordBytes &- EventPoll.surroundingBytes
        var last = publisher.journal.last
        var count = 0
        publisher.journal.read(after: position) { event in
            guard filter.wants(event.entry.type, about: event.entry.subject) else { return true }
            let text = event.text(for: call.client.identity)
            guard count < maximum, count == 0 || writer.count &- start &+ text.count <= room else {
                last = event.sequence &- 1
                return false
            }
            // Without the brace that closes a notification.
            writer.raw(UnsafeRawBufferPointer(rebasing: text.dropLast()))
            count &+= 1
            return true
        }
        writer.endArray()
        return last
    }
}
