/// The events of the recent past, encoded, in the order in which they happened: a ring bounded by its bytes. Every subscriber reads its
/// events here, so that none has a queue of its own, and whoever comes back finds what it has missed.
struct EventJournal {
    /// What a filter has to know of an event, and where its text lies.
    struct Entry {
        /// The row of its type.
        let type: Int
        let subject: EventSubject?
        /// Where the text for everybody begins in its segment.
        fileprivate let offset: Int
        /// Its length.
        fileprivate let openCount: Int
        /// The length of the text with the secrets, behind the other one; 0 if the event has none.
        fileprivate let fullCount: Int
    }

    /// Memory of some hundred events, given back whole.
    fileprivate final class Segment {
        let first: Int
        var entries: [Entry] = []
        private var used = 0
        private let capacity: Int
        private let memory: UnsafeMutableRawBufferPointer

        init(first: Int, capacity: Int) {
            self.first = first
            self.capacity = Segment.entryCount(capacity)
            memory = .allocate(byteCount: capacity, alignment: 1)
            entries.reserveCapacity(self.capacity)
        }

        private static func entryCount(_ bytes: Int) -> Int { max(1, bytes / EventJournal.usualBytes) }

        deinit { memory.deallocate() }

        var last: Int { first &+ entries.count &- 1 }

        /// What one for so many bytes of text takes of the ring's bound, its table included.
        static func size(_ bytes: Int) -> Int { bytes &+ entryCount(bytes) &* MemoryLayout<Entry>.stride }

        var size: Int { Segment.size(memory.count) }

        func hasRoom(for count: Int) -> Bool { memory.count &- used >= count && entries.count < capacity }

        /// Copies a text in; gives where it lies.
        func append(_ text: UnsafeRawBufferPointer) -> Int {
            let offset = used
            UnsafeMutableRawBufferPointer(rebasing: memory[offset...]).copyMemory(from: text)
            used &+= text.count
            return offset
        }

        func text(_ offset: Int, _ count: Int) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: memory[offset..<offset &+ count])
        }
    }

    /// One event as a reader sees it; valid until the reader gives the turn back.
    struct Event {
        let sequence: Int
        let entry: Entry
        private let segment: Segment

        fileprivate init(_ sequence: Int, _ entry: Entry, _ segment: Segment) {
            self.sequence = sequence
            self.entry = entry
            self.segment = segment
        }

        /// Its text, with the secrets only for the client whose request it is about.
        func text(for reader: ClientIdentity) -> UnsafeRawBufferPointer {
            guard entry.fullCount > 0, entry.subject?.client == reader else {
                return segment.text(entry.offset, entry.openCount)
            }
            return segment.text(entry.offset &+ entry.openCount, entry.fullCount)
        }

        /// How long the text for everybody is.
        var size: Int { entry.openCount }
    }

    /// The most bytes that it holds.
    var limitBytes: Int
    /// The number of the last event.
    private(set) var last: Int
    /// The number before that of the oldest event that is there.
    private(set) var floor: Int
    /// How many bytes it holds now.
    private(set) var size = 0
    private var segments: [Segment] = []

    /// Segments of 128 KiB: few enough to find an event at once, small enough that an idle daemon holds little.
    private static let segmentBytes = 131_072
    /// What events take at least, on the average; a segment with so many of shorter ones is full too.
    private static let usualBytes = 256

    /// An empty one, whose first event has the number after this one.
    init(after sequence: Int, limitBytes: Int) {
        last = sequence
        floor = sequence
        self.limitBytes = limitBytes
    }

    /// The length of the last event.
    var lastSize: Int { segments.last?.entries.last?.openCount ?? 0 }

    /// How many events there are.
    var count: Int { last &- floor }

    /// Whether everything that has happened after this event is there.
    func reaches(backTo sequence: Int) -> Bool { (floor...last).contains(sequence) }

    /// The number of the last event that will go if so many bytes are added; `nil` if all have room.
    func lastToGo(adding count: Int) -> Int? {
        let wanted = Segment.size(capacity(for: count))
        guard let segment = segments.last, !segment.hasRoom(for: count), size &+ wanted > limitBytes else { return nil }
        var freed = 0
        var last: Int?
        for segment in segments.dropLast() where size &- freed &+ wanted > limitBytes {
            freed &+= segment.size
            last = segment.last
        }
        return last
    }

    /// Adds the next event; the oldest ones go if there is no room.
    mutating func append(
        _ open: UnsafeRawBufferPointer, full: UnsafeRawBufferPointer?, type: Int, subject: EventSubject?
    ) {
        last &+= 1
        let segment = segment(for: open.count &+ (full?.count ?? 0))
        let offset = segment.append(open)
        if let full { _ = segment.append(full) }
        segment.entries.append(
            Entry(
                type: type, subject: subject, offset: offset, openCount: open.count, fullCount: full?.count ?? 0))
    }

    private func capacity(for count: Int) -> Int {
        max(count, min(EventJournal.segmentBytes, limitBytes / 8))
    }

    private mutating func segment(for count: Int) -> Segment {
        if let segment = segments.last, segment.hasRoom(for: count) { return segment }
        let capacity = capacity(for: count)
        while segments.count > 1, size &+ Segment.size(capacity) > limitBytes {
            let oldest = segments.removeFirst()
            size &-= oldest.size
            floor = oldest.last
        }
        let segment = Segment(first: last, capacity: capacity)
        segments.append(segment)
        size &+= segment.size
        return segment
    }

    /// Reads the events after a number, oldest first, until the body has enough and gives false.
    func read(after sequence: Int, _ body: (borrowing Event) -> Bool) {
        var number = max(sequence, floor) &+ 1
        guard number <= last else { return }
        var index = index(ofSegmentWith: number)
        while index < segments.count {
            let segment = segments[index]
            while number <= segment.last {
                guard body(Event(number, segment.entries[number &- segment.first], segment)) else { return }
                number &+= 1
            }
            index &+= 1
        }
    }

    /// Most readers want what has just come.
    private func index(ofSegmentWith number: Int) -> Int {
        if let last = segments.last, last.first <= number { return segments.count &- 1 }
        var (low, high) = (0, segments.count &- 1)
        while low < high {
            let middle = (low &+ high &+ 1) / 2
            if segments[middle].first <= number { low = middle } else { high = middle &- 1 }
        }
        return low
    }
}
