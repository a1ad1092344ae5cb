internal import CarpoolRPC
internal import CarpoolSystem

/// A piece of the journal: memory of some hundred events of one owner, given back whole.
final class JournalSegment {
    /// The table, and after it the texts.
    private let pages: PageMemory
    private let table: UnsafeMutableBufferPointer<EventJournal.Entry>
    private let memory: UnsafeMutableRawBufferPointer
    private var filled = 0
    private var used = 0

    /// The average size of events for which the table has room: with shorter ones the table is full first.
    private static let usualBytes = 256

    init(capacity: Int) {
        pages = PageMemory(byteCount: JournalSegment.size(capacity))
        let tableBytes = JournalSegment.size(capacity) &- capacity
        table = UnsafeMutableRawBufferPointer(rebasing: pages.bytes[..<tableBytes])
            .bindMemory(to: EventJournal.Entry.self)
        memory = UnsafeMutableRawBufferPointer(rebasing: pages.bytes[tableBytes...])
    }

    deinit { _ = UnsafeMutableBufferPointer(rebasing: table[..<filled]).deinitialize() }

    var entries: UnsafeMutableBufferPointer<EventJournal.Entry> {
        UnsafeMutableBufferPointer(rebasing: table[..<filled])
    }

    private static func entryCount(_ bytes: Int) -> Int { max(1, bytes / usualBytes) }

    /// The numbers of its first and its last event.
    var first: Int { entries.first?.sequence ?? 0 }
    var last: Int { entries.last?.sequence ?? 0 }

    /// The bytes that a segment for so much text counts against the journal's limit, its table included.
    static func size(_ bytes: Int) -> Int { bytes &+ entryCount(bytes) &* MemoryLayout<EventJournal.Entry>.stride }

    var size: Int { JournalSegment.size(memory.count) }

    func hasRoom(for count: Int) -> Bool { memory.count &- used >= count && filled < table.count }

    /// Adds an event.
    func append(
        _ sequence: Int, _ open: UnsafeRawBufferPointer, full: UnsafeRawBufferPointer?, type: EventType,
        subject: EventSubject?
    ) {
        let offset = copy(open)
        if let full { _ = copy(full) }
        table.initializeElement(
            at: filled,
            to: EventJournal.Entry(
                sequence: sequence, type: type, subject: subject, offset: offset, openCount: open.count,
                fullCount: full?.count ?? 0))
        filled += 1
    }

    /// Copies a text in; returns where it lies.
    private func copy(_ text: UnsafeRawBufferPointer) -> Int {
        let offset = used
        UnsafeMutableRawBufferPointer(rebasing: memory[offset...]).copyMemory(from: text)
        used &+= text.count
        return offset
    }

    func text(_ offset: Int, _ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: memory[offset..<offset &+ count])
    }

    /// The place of the first event after a number.
    func index(after sequence: Int) -> Int {
        let entries = entries
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low &+ high) / 2
            if entries[middle].sequence <= sequence { low = middle &+ 1 } else { high = middle }
        }
        return low
    }
}
