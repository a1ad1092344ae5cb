/// A FIFO queue from whose middle elements can be removed: a token finds its entry without a linear search.
struct FIFOQueue<Element> {
    /// Identifies an entry; later entries have greater tokens.
    typealias Token = Int

    private struct Entry {
        let token: Token
        /// `nil` if it was removed early.
        var element: Element?
    }

    private var entries: [Entry] = []
    /// The number of used entries at the front.
    private var head = 0
    private var nextToken = 0
    /// The number of elements.
    private(set) var count = 0

    /// Maximum number of entries of removed elements, in addition to as many as there are elements.
    private static var keptEntries: Int { 64 }

    var isEmpty: Bool { count == 0 }
    /// Entries in memory, those removed early included: at most twice as many as there are elements, and a few.
    var extent: Int { entries.count - head }

    mutating func append(_ element: Element) -> Token {
        let token = nextToken
        nextToken = token &+ 1
        entries.append(Entry(token: token, element: element))
        count += 1
        return token
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        while head < entries.count {
            let element = entries[head].element
            entries[head].element = nil
            head += 1
            guard let element else { continue }
            count -= 1
            trim()
            return element
        }
        trim()
        return nil
    }

    /// The number of entries before one: those removed early included, since counting would cost a search.
    func distance(to token: Token) -> Int { index(of: token).map { $0 - head } ?? 0 }

    /// Reads the elements after a token, in order, until the body returns false. The token need not be in the queue.
    func read(after token: Token, _ body: (Token, Element) -> Bool) {
        var (low, high) = (head, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].token <= token { low = middle + 1 } else { high = middle }
        }
        for place in entries[low...] {
            if let element = place.element, !body(place.token, element) { return }
        }
    }

    /// Removes an element. Returns `nil` if its entry was used or removed already.
    @discardableResult mutating func remove(_ token: Token) -> Element? {
        guard let index = index(of: token), let element = entries[index].element else { return nil }
        entries[index].element = nil
        count -= 1
        while entries.count > head, let last = entries.last, last.element == nil { entries.removeLast() }
        if extent > 2 * count + FIFOQueue.keptEntries { removeAll { _ in false } } else { trim() }
        return element
    }

    /// Removes all elements for which this is true.
    mutating func removeAll(where isLeaving: (Element) -> Bool) {
        entries.removeAll { $0.element.map(isLeaving) ?? true }
        head = 0
        count = entries.count
    }

    private func index(of token: Token) -> Int? {
        guard head < entries.count, token >= entries[head].token else { return nil }
        // Most often no place before it has been removed.
        var end = min(entries.count, head + (token - entries[head].token) + 1)
        if entries[end - 1].token == token { return end - 1 }
        var start = head
        while start < end {
            let middle = (start + end) / 2
            if entries[middle].token == token { return middle }
            if entries[middle].token < token { start = middle + 1 } else { end = middle }
        }
        return nil
    }

    private mutating func trim() {
        if head == entries.count {
            head = 0
            entries.removeAll(keepingCapacity: true)
        } else if head >= 64, head * 2 > entries.count {
            // Half of it is used: moving the rest costs each element one move in total.
            entries.removeFirst(head)
            head = 0
        }
    }
}
