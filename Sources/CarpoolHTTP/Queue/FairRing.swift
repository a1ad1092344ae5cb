/// A round-robin queue: keys take turns, and the elements of one key leave in order. A new key goes next.
struct FairRing<Key: Equatable, Element> {
    private struct KeyQueue {
        let key: Key
        /// Elements that go before the others of their key.
        var fresh = FIFOQueue<Element>()
        var regular = FIFOQueue<Element>()
        var isEmpty: Bool { fresh.isEmpty && regular.isEmpty }
    }

    private var queues: [KeyQueue] = []
    /// The index of the key whose turn it is.
    private var turn = 0
    /// The number of waiting elements.
    private(set) var count = 0

    /// Empty queues that are kept, so that a key that comes and goes costs no allocation.
    private static var keptQueues: Int { 8 }

    var isEmpty: Bool { count == 0 }

    /// Adds an element after those of its key, or before them if it is fresh.
    mutating func append(_ element: Element, key: Key, isFresh: Bool = false) {
        count += 1
        // Most often there is one key.
        if let index = queues.firstIndex(where: { $0.key == key }) { return add(element, at: index, isFresh) }
        let place = min(turn, queues.count)
        queues.insert(KeyQueue(key: key), at: place)
        // One that is not fresh has had a turn, and waits for the turns of the others.
        if !isFresh { turn = place + 1 }
        add(element, at: place, isFresh)
    }

    private mutating func add(_ element: Element, at index: Int, _ isFresh: Bool) {
        if isFresh { _ = queues[index].fresh.append(element) } else { _ = queues[index].regular.append(element) }
    }

    /// Removes the next element of the key whose turn it is.
    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        for _ in 0..<queues.count {
            if turn >= queues.count { turn = 0 }
            guard let element = queues[turn].fresh.popFirst() ?? queues[turn].regular.popFirst() else {
                skipEmpty()
                continue
            }
            count -= 1
            if queues[turn].isEmpty { skipEmpty() } else { turn += 1 }
            return element
        }
        return nil
    }

    /// Removes all elements for which this is true.
    mutating func removeAll(where isLeaving: (Element) -> Bool) {
        count = 0
        for index in queues.indices {
            queues[index].fresh.removeAll(where: isLeaving)
            queues[index].regular.removeAll(where: isLeaving)
            count += queues[index].fresh.count + queues[index].regular.count
        }
    }

    private mutating func skipEmpty() {
        if queues.count > FairRing.keptQueues { queues.remove(at: turn) } else { turn += 1 }
    }
}

/// Three fair rings, one for each priority, that take turns: high before normal before low, but of sixteen turns one
/// is for low, and another two for normal, so that none starves.
struct PriorityRing<Key: Equatable, Element> {
    private var rings = [FairRing<Key, Element>(), FairRing<Key, Element>(), FairRing<Key, Element>()]
    private var turns = 0
    private(set) var count = 0

    private static var normalTurn: Int { 8 }
    private static var lowTurn: Int { 16 }

    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element, rank: Int, key: Key, isFresh: Bool) {
        count += 1
        rings[rank].append(element, key: key, isFresh: isFresh)
    }

    /// Removes the next element, and returns it with its rank.
    mutating func popFirst() -> (rank: Int, element: Element)? {
        guard count > 0 else { return nil }
        turns += 1
        let rank = nextRank
        count -= 1
        return rings[rank].popFirst().map { (rank, $0) }
    }

    /// Removes all elements for which this is true of them and their ranks.
    mutating func removeAll(where isLeaving: (_ rank: Int, _ element: Element) -> Bool) {
        for rank in rings.indices { rings[rank].removeAll { isLeaving(rank, $0) } }
        count = rings.reduce(0) { $0 + $1.count }
    }

    private var nextRank: Int {
        if turns % PriorityRing.lowTurn == 0, !rings[2].isEmpty { return 2 }
        if turns % PriorityRing.normalTurn == 0, !rings[1].isEmpty { return 1 }
        return rings.firstIndex { !$0.isEmpty } ?? 0
    }
}
