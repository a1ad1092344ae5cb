internal import CarpoolRPC

/// The recent events, encoded and in order. Every subscriber reads its events here, so that none has a queue of its
/// own, and a client that reconnects can resume.
///
/// Each user's events are in a ring of their own, and so are those without a user. All rings share one bound: when it
/// is reached, the longest one loses its oldest events, so that a user with many events pushes out its own.
struct EventJournal {
    /// What a filter needs to know of an event, and where its text is.
    struct Entry {
        /// Its number among the events of all users.
        let sequence: Int
        let type: EventType
        let subject: EventSubject?
        /// Where the text without secrets begins in its segment.
        let offset: Int
        /// Its length.
        let openCount: Int
        /// The length of the text with the secrets, after the other one; 0 if the event has none.
        let fullCount: Int
    }

    /// The users whose events are read.
    enum Readership: Equatable {
        /// The events of one user, or those without a user.
        case user(UInt32)
        /// All events.
        case everyone

        /// Whether events of an owner are among them; `nil` stands for events without a user.
        func includes(_ owner: UInt32?) -> Bool {
            guard let owner, case .user(let user) = self else { return true }
            return owner == user
        }
    }

    /// The events of one owner.
    private struct Ring {
        var segments: [JournalSegment] = []
        var size = 0
        /// The number of the last removed event.
        var lastEvicted: Int
    }

    /// One event as a reader sees it; valid until the reader returns.
    struct Event {
        let entry: Entry
        private let segment: JournalSegment

        fileprivate init(_ entry: Entry, _ segment: JournalSegment) {
            self.entry = entry
            self.segment = segment
        }

        var sequence: Int { entry.sequence }

        /// Its text, with the secrets only for the client whose request it is about.
        func text(for reader: ClientIdentity) -> UnsafeRawBufferPointer {
            guard entry.fullCount > 0, entry.subject?.client == reader else {
                return segment.text(entry.offset, entry.openCount)
            }
            return segment.text(entry.offset &+ entry.openCount, entry.fullCount)
        }

        /// The length of the text without secrets.
        var size: Int { entry.openCount }
    }

    /// The events that are removed next, to make room for another one.
    struct EvictedEvents: Equatable {
        /// Their user; `nil` for events without one.
        let owner: UInt32?
        /// The number of the last of them.
        let last: Int
    }

    /// The most bytes that it holds.
    var limitBytes: Int
    /// The number of the last event.
    private(set) var last: Int
    /// The length of the last event.
    private(set) var lastSize = 0
    /// How many bytes it holds now.
    private(set) var size = 0
    /// How many events there are.
    private(set) var count = 0
    /// The number before the first recorded event.
    private let start: Int
    private var rings: [UInt32?: Ring] = [:]

    /// Segments of 128 KiB: few enough to find an event at once, small enough that an idle daemon holds little.
    static let segmentBytes = 131_072

    /// Makes an empty journal, whose first event has the number after this one.
    init(after sequence: Int, limitBytes: Int) {
        last = sequence
        start = sequence
        self.limitBytes = limitBytes
    }

    /// The number of the last event that a reader can no longer get.
    func lastEvicted(for readers: Readership) -> Int {
        var last = start
        for (owner, ring) in rings where readers.includes(owner) { last = max(last, ring.lastEvicted) }
        return last
    }

    /// Whether the journal has all events after this one for a reader.
    func containsAll(after sequence: Int, for readers: Readership) -> Bool {
        sequence <= last && sequence >= lastEvicted(for: readers)
    }

    // MARK: Writing

    /// The events to remove next before so many bytes of an owner are added; `nil` if there is room for them.
    func eventsToEvict(adding count: Int, of owner: UInt32?) -> EvictedEvents? {
        if let segment = rings[owner]?.segments.last, segment.hasRoom(for: count) { return nil }
        let wanted = JournalSegment.size(capacity(for: count))
        return size &+ wanted > limitBytes ? oldest(adding: wanted, to: owner) : nil
    }

    /// The events to remove next because the journal exceeds its limit; `nil` if it does not.
    var excess: EvictedEvents? { size > limitBytes ? oldest(adding: 0, to: nil) : nil }

    /// The oldest events of the longest ring, when so many bytes are added to one.
    private func oldest(adding count: Int, to owner: UInt32?) -> EvictedEvents? {
        let longest = rings.filter { !$0.value.segments.isEmpty }.max { one, other in
            // The new events count too, so that of two equal users the one that adds them loses its oldest.
            one.value.size &+ (one.key == owner ? count : 0) < other.value.size &+ (other.key == owner ? count : 0)
        }
        guard let longest, let oldest = longest.value.segments.first else { return nil }
        return EvictedEvents(owner: longest.key, last: oldest.last)
    }

    /// Removes the oldest events of an owner.
    mutating func forget(_ events: EvictedEvents) {
        guard let oldest = rings[events.owner]?.segments.first else { return }
        rings[events.owner]?.segments.removeFirst()
        rings[events.owner]?.size &-= oldest.size
        rings[events.owner]?.lastEvicted = oldest.last
        size &-= oldest.size
        count &-= oldest.entries.count
    }

    /// All segments, to be released one by one.
    var segments: [JournalSegment] { rings.values.flatMap(\.segments) }

    /// Adds the next event, for which room was made.
    mutating func append(
        _ open: UnsafeRawBufferPointer, full: UnsafeRawBufferPointer?, type: EventType, subject: EventSubject?
    ) {
        last += 1
        lastSize = open.count
        count += 1
        segment(for: open.count &+ (full?.count ?? 0), of: subject?.uid)
            .append(last, open, full: full, type: type, subject: subject)
    }

    private func capacity(for count: Int) -> Int {
        max(count, min(EventJournal.segmentBytes, limitBytes / 8))
    }

    private mutating func segment(for count: Int, of owner: UInt32?) -> JournalSegment {
        if let segment = rings[owner]?.segments.last, segment.hasRoom(for: count) { return segment }
        let segment = JournalSegment(capacity: capacity(for: count))
        rings[owner, default: Ring(lastEvicted: start)].segments.append(segment)
        rings[owner]?.size &+= segment.size
        size &+= segment.size
        return segment
    }

    // MARK: Reading

    /// Where a reader is in one ring.
    private struct Place {
        let segments: [JournalSegment]
        var segment: Int
        var entry: Int

        /// The first event after a number; `nil` if there is none.
        init?(after sequence: Int, in segments: [JournalSegment]) {
            guard let last = segments.last, last.last > sequence else { return nil }
            self.segments = segments
            segment = Place.index(after: sequence, in: segments)
            entry = segments[segment].index(after: sequence)
        }

        /// The first segment with an event after a number. Most readers read the newest.
        private static func index(after sequence: Int, in segments: [JournalSegment]) -> Int {
            var (low, high) = (0, segments.count &- 1)
            if segments[high].first <= sequence { return high }
            while low < high {
                let middle = (low &+ high) / 2
                if segments[middle].last <= sequence { low = middle &+ 1 } else { high = middle }
            }
            return low
        }

        var sequence: Int { segments[segment].entries[entry].sequence }

        var event: Event { Event(segments[segment].entries[entry], segments[segment]) }

        /// Advances to the next event. Returns whether there is one.
        mutating func advance() -> Bool {
            entry += 1
            guard entry == segments[segment].entries.count else { return true }
            entry = 0
            segment += 1
            return segment < segments.count
        }
    }

    /// The types of events that are to be removed.
    func types(of events: EvictedEvents) -> EventTypeSet {
        var types = EventTypeSet()
        guard let segment = rings[events.owner]?.segments.first else { return types }
        for entry in segment.entries { types.insert(entry.type) }
        return types
    }

    /// Reads those of the events to be removed that come after a number, until the body has enough and returns false.
    /// Returns whether it has read all.
    func read(_ events: EvictedEvents, after sequence: Int, _ body: (borrowing Event) -> Bool) -> Bool {
        guard let segment = rings[events.owner]?.segments.first, segment.last > sequence else { return true }
        return segment.entries[segment.index(after: sequence)...].allSatisfy { body(Event($0, segment)) }
    }

    /// Reads the events after a number, oldest first, until the body has enough and returns false. Returns whether it
    /// has read all.
    @discardableResult
    func read(after sequence: Int, for readers: Readership, _ body: (borrowing Event) -> Bool) -> Bool {
        var places: [Place] = []
        for (owner, ring) in rings where readers.includes(owner) {
            if let place = Place(after: sequence, in: ring.segments) { places.append(place) }
        }
        while !places.isEmpty {
            // The ring with the oldest event is read up to the oldest event of the others.
            var (oldest, bound) = (0, Int.max)
            for index in places.indices.dropFirst() {
                if places[index].sequence < places[oldest].sequence {
                    bound = places[oldest].sequence
                    oldest = index
                } else {
                    bound = min(bound, places[index].sequence)
                }
            }
            repeat {
                guard body(places[oldest].event) else { return false }
                guard places[oldest].advance() else {
                    places.remove(at: oldest)
                    break
                }
            } while places[oldest].sequence < bound
        }
        return true
    }
}
