/// First come, first served, and an element may leave from the middle: a ticket finds its place without a search through all.
struct WaitingLine<Element> {
    /// Names a place in the line; later places have greater tickets.
    typealias Ticket = Int

    private struct Place {
        let ticket: Ticket
        /// `nil` if it has left early.
        var element: Element?
    }

    private var places: [Place] = []
    /// How many places at the front are used up.
    private var head = 0
    private var nextTicket = 0
    /// How many wait.
    private(set) var count = 0

    /// Places of elements that have left from the middle, which are kept however few wait.
    private static var keptPlaces: Int { 64 }

    var isEmpty: Bool { count == 0 }
    /// Places held in memory, those left early included: at most twice as many as wait, and a few.
    var extent: Int { places.count - head }

    mutating func append(_ element: Element) -> Ticket {
        let ticket = nextTicket
        nextTicket = ticket &+ 1
        places.append(Place(ticket: ticket, element: element))
        count += 1
        return ticket
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        while head < places.count {
            let element = places[head].element
            places[head].element = nil
            head += 1
            guard let element else { continue }
            count -= 1
            trim()
            return element
        }
        trim()
        return nil
    }

    /// How many places are before one: those left early included, since a count would cost a search.
    func distance(to ticket: Ticket) -> Int { index(of: ticket).map { $0 - head } ?? 0 }

    /// Reads the elements behind a ticket, in order, until the body has enough and returns false. The ticket need not be in the line.
    func read(after ticket: Ticket, _ body: (Ticket, Element) -> Bool) {
        var (low, high) = (head, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].ticket <= ticket { low = middle + 1 } else { high = middle }
        }
        for place in places[low...] {
            if let element = place.element, !body(place.ticket, element) { return }
        }
    }

    /// Takes an element out of the line. Returns `nil` if that place is used up or left already.
    @discardableResult mutating func remove(_ ticket: Ticket) -> Element? {
        guard let index = index(of: ticket), let element = places[index].element else { return nil }
        places[index].element = nil
        count -= 1
        while places.count > head, let last = places.last, last.element == nil { places.removeLast() }
        if extent > 2 * count + WaitingLine.keptPlaces { removeAll { _ in false } } else { trim() }
        return element
    }

    /// Takes all elements out of the line for which this is true.
    mutating func removeAll(where isLeaving: (Element) -> Bool) {
        places.removeAll { $0.element.map(isLeaving) ?? true }
        head = 0
        count = places.count
    }

    private func index(of ticket: Ticket) -> Int? {
        guard head < places.count, ticket >= places[head].ticket else { return nil }
        // Most often no place before it has been removed.
        var end = min(places.count, head + (ticket - places[head].ticket) + 1)
        if places[end - 1].ticket == ticket { return end - 1 }
        var start = head
        while start < end {
            let middle = (start + end) / 2
            if places[middle].ticket == ticket { return middle }
            if places[middle].ticket < ticket { start = middle + 1 } else { end = middle }
        }
        return nil
    }

    private mutating func trim() {
        if head == places.count {
            head = 0
            places.removeAll(keepingCapacity: true)
        } else if head >= 64, head * 2 > places.count {
            // Half of it is used up: moving the rest costs each element one move in all.
            places.removeFirst(head)
            head = 0
        }
    }
}
