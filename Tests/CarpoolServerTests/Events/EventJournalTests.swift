import CarpoolRPC
@testable import CarpoolServer
import Testing

struct EventJournalTests {
    private let me = ClientIdentity(uid: 1, name: "me")
    private let other = ClientIdentity(uid: 1, name: "other")

    private func append(
        _ text: String, full: String? = nil, type: EventType = .sessionDidBecomeInvalid, uid: UInt32 = 1,
        to journal: inout EventJournal
    ) {
        let subject = EventSubject(session: "s", uid: uid, request: "r", client: uid == 1 ? me : nil)
        while let surplus = journal.eventsToEvict(adding: text.utf8.count + (full?.utf8.count ?? 0), of: uid) {
            journal.forget(surplus)
        }
        Array(text.utf8).withUnsafeBytes { open in
            guard let full else { return journal.append(open, full: nil, type: type, subject: subject) }
            Array(full.utf8).withUnsafeBytes { journal.append(open, full: $0, type: type, subject: subject) }
        }
    }

    private func texts(
        _ journal: EventJournal, after sequence: Int, for reader: ClientIdentity? = nil,
        _ readers: EventJournal.Readership = .user(1)
    ) -> [String] {
        var texts: [String] = []
        journal.read(after: sequence, for: readers) { event in
            texts.append(String(decoding: event.text(for: reader ?? other), as: UTF8.self))
            return true
        }
        return texts
    }

    @Test("Events are read from any place on, in order, until the reader has enough")
    func reading() {
        var journal = EventJournal(after: 5, limitBytes: 1 << 20)
        #expect(texts(journal, after: 0).isEmpty)
        for number in 6...9 { append("event \(number)", to: &journal) }
        #expect((journal.lastEvicted(for: .user(1)), journal.last, journal.count, journal.lastSize) == (5, 9, 4, 7))
        #expect(texts(journal, after: 5) == ["event 6", "event 7", "event 8", "event 9"])
        #expect(texts(journal, after: 8) == ["event 9"])
        #expect(texts(journal, after: 9).isEmpty)
        let reached = (4...10).filter { journal.containsAll(after: $0, for: .user(1)) }
        #expect(reached == [5, 6, 7, 8, 9])
        var seen: [Int] = []
        journal.read(after: 5, for: .user(1)) { event in
            seen.append(event.sequence)
            return event.sequence < 7
        }
        #expect(seen == [6, 7])
    }

    @Test("A smaller bound makes the oldest events excess, segment by segment")
    func excess() {
        var journal = EventJournal(after: 0, limitBytes: 1 << 20)
        for number in 1...2_000 { append("event \(number)", to: &journal) }
        #expect(journal.excess == nil)
        journal.limitBytes = journal.size - 1
        let first = journal.excess
        #expect(first == EventJournal.EvictedEvents(owner: 1, last: 512))
        if let first { journal.forget(first) }
        #expect(journal.excess == nil)
        #expect(texts(journal, after: 512).count == 1_488)
        journal.limitBytes = 0
        while let excess = journal.excess { journal.forget(excess) }
        #expect((journal.size, journal.count, journal.last) == (0, 0, 2_000))
    }

    @Test("Requests of events are released with the segments that are removed")
    func segments() {
        weak var subject: EventSubject?
        var taken: [JournalSegment] = []
        do {
            var journal = EventJournal(after: 0, limitBytes: 1 << 20)
            let new = EventSubject(session: "s", uid: 1, request: "r", client: me)
            subject = new
            for _ in 0..<1_000 {
                Array("text".utf8).withUnsafeBytes {
                    journal.append($0, full: nil, type: .sessionDidBecomeInvalid, subject: new)
                }
            }
            taken = journal.segments
        }
        #expect(taken.count == 2)
        #expect(taken.map(\.entries.count).reduce(0, +) == 1_000)
        #expect(subject != nil)
        taken.removeAll()
        #expect(subject == nil)
    }

    @Test("Secrets are for their owner alone")
    func secrets() {
        var journal = EventJournal(after: 0, limitBytes: 1 << 20)
        append("(hidden)", full: "secret", to: &journal)
        append("plain", to: &journal)
        #expect(texts(journal, after: 0, for: me) == ["secret", "plain"])
        #expect(texts(journal, after: 0, for: other) == ["(hidden)", "plain"])
    }

    @Test("It never exceeds its bound, and reports beforehand what it drops", arguments: [1, 100, 9_000, 70_000])
    func bound(_ size: Int) {
        let limit = 65_536
        var journal = EventJournal(after: 0, limitBytes: limit)
        let text = String(repeating: "x", count: size)
        for number in 1...3_000 {
            let goes = journal.eventsToEvict(adding: size, of: 1)
            let before = journal.lastEvicted(for: .user(1))
            append(text, to: &journal)
            #expect(size > limit / 8 || journal.lastEvicted(for: .user(1)) == goes?.last ?? before)
            #expect(journal.last == number)
            if size < limit { #expect(journal.size <= limit) }
            #expect(journal.count >= 1)
        }
        #expect(texts(journal, after: journal.lastEvicted(for: .user(1))).count == journal.count)
        #expect(!journal.containsAll(after: 0, for: .user(1)))
    }

    @Test("Every position is found, in every segment")
    func places() {
        var journal = EventJournal(after: 100, limitBytes: 65_536)
        for number in 101...2_000 { append("\(number)", to: &journal) }
        for sequence in stride(from: journal.lastEvicted(for: .user(1)), to: journal.last, by: 7) {
            #expect(texts(journal, after: sequence).first == "\(sequence + 1)")
        }
    }

    @Test("B6: a user with many events evicts its own, and each reader's gap is that of the events it may read")
    func b6_users() {
        var journal = EventJournal(after: 0, limitBytes: 65_536)
        for number in 1...3 { append("mine \(number)", to: &journal) }
        for number in 4...3_000 { append("\(number)", uid: 2, to: &journal) }
        append("mine again", to: &journal)
        #expect(texts(journal, after: 0) == ["mine 1", "mine 2", "mine 3", "mine again"])
        #expect(journal.containsAll(after: 0, for: .user(1)))
        #expect(journal.containsAll(after: 0, for: .user(3)))
        #expect(!journal.containsAll(after: 0, for: .user(2)))
        #expect(!journal.containsAll(after: 0, for: .everyone))
        let floor = journal.lastEvicted(for: .user(2))
        #expect(texts(journal, after: floor, .user(2)) == (floor + 1...3_000).map { "\($0)" })
        #expect(texts(journal, after: 2_999, .everyone) == ["3000", "mine again"])
        #expect(journal.size <= 65_536)
    }

    @Test("Events of several users are read in the order in which they happened, from any place", arguments: 0..<8)
    func b6_order(_ seed: UInt64) {
        var random = SplitMix(state: seed)
        var journal = EventJournal(after: 0, limitBytes: 1 << 20)
        var all: [(text: String, uid: UInt32)] = []
        for number in 1...2_000 {
            all.append(("\(number)", UInt32.random(in: 1...4, using: &random)))
            append("\(number)", uid: all[number - 1].uid, to: &journal)
        }
        for start in stride(from: 0, to: 2_000, by: 97) {
            #expect(texts(journal, after: start, .everyone) == all[start...].map(\.text))
            #expect(texts(journal, after: start, .user(3)) == all[start...].filter { $0.uid == 3 }.map(\.text))
        }
    }
}

struct EventQueueTests {
    /// Compares a step, which changes the queue and so cannot be taken inside of the macro.
    private func expect(_ step: EventQueue.AddResult, _ expected: EventQueue.AddResult) { #expect(step == expected) }

    @Test("Waiting events are counted until they are sent")
    func waiting() {
        var queue = EventQueue(position: 10, last: 10)
        #expect(!queue.hasMore)
        expect(queue.add(15, bytes: 100, limitBytes: 1_000), .waits)
        expect(queue.add(17, bytes: 100, limitBytes: 1_000), .waits)
        #expect((queue.position, queue.waiting, queue.waitingBytes) == (14, 2, 200))
        queue.didSend(15, bytes: 100)
        #expect(queue.hasMore)
        queue.didSend(17, bytes: 100)
        #expect((queue.position, queue.waiting, queue.waitingBytes) == (17, 0, 0))
        #expect(!queue.hasMore)
    }

    @Test("At an overflow all that waits is dropped and counted until it is reported; what follows is complete again")
    func overflow() {
        var queue = EventQueue(position: 0, last: 0)
        expect(queue.add(1, bytes: 60, limitBytes: 100), .waits)
        expect(queue.add(2, bytes: 60, limitBytes: 100), .overflows)
        expect(queue.add(3, bytes: 60, limitBytes: 100), .isLost)
        #expect(queue.hasMore)
        let losses = [queue.takeLoss(upTo: 7), queue.takeLoss(upTo: 7)]
        #expect(losses == [EventQueue.Loss(dropped: 3, resume: 0), nil])
        #expect((queue.position, queue.hasMore) == (7, false))
        expect(queue.add(8, bytes: 60, limitBytes: 100), .waits)
    }

    @Test("A replay is bounded by the journal alone, and what happens meanwhile waits behind it")
    func replay() {
        var queue = EventQueue(position: 3, last: 9)
        #expect(queue.hasMore)
        expect(queue.add(10, bytes: 500, limitBytes: 100), .waits)
        queue.didSend(4, bytes: 80)
        queue.skip(to: 8)
        #expect((queue.position, queue.waiting) == (8, 1))
        queue.didSend(10, bytes: 500)
        queue.catchUp(with: 10)
        #expect((queue.position, queue.waiting, queue.waitingBytes, queue.hasMore) == (10, 0, 0, false))
    }
}

struct EventCursorTests {
    @Test("Only the form that daemons issue is a cursor", arguments: ["k3f9.10450", "0.0", "zzzzzz.1"])
    func valid(_ text: String) { #expect(EventCursor(text)?.text == text) }

    @Test(
        "Anything else is not a cursor",
        arguments: ["", ".", "k3f9", "k3f9.", ".1", "k3f9.-1", "k3f9.+1", "K.1", "a.1.2", "a.99999999999999999999"])
    func invalid(_ text: String) { #expect(EventCursor(text) == nil) }
}
