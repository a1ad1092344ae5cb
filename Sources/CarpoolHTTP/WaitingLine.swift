/// First come, first served, and whoever gives up may leave from the middle: taking a ticket back costs no search.
struct WaitingLine<Element> {
    /// A place in the line, to be given back by whoever leaves early.
    typealias Ticket = Int

    private var places: [Element?] = []
    /// How many places at the front are used up.
    private var head = 0
    /// The ticket of `places[0]`.
    private var firstTicket = 0
    /// How many wait.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    /// Places held in memory, those left early included: what a bound must look at.
    var extent: Int { places.count - head }

    mutating func append(_ element: Element) -> Ticket {
        places.append(element)
        count += 1
        return firstTicket &+ places.count - 1
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        while head < places.count {
            let element = places[head]
            places[head] = nil
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
    func distance(to ticket: Ticket) -> Int { max(0, ticket &- firstTicket - head) }

    /// Leaves the line. Does nothing if that place is used up or left already.
    mutating func remove(_ ticket: Ticket) {
        let index = ticket &- firstTicket
        guard index >= head, index < places.count, places[index] != nil else { return }
        places[index] = nil
        count -= 1
        while places.count > head, let last = places.last, last == nil { places.removeLast() }
        trim()
    }

    private mutating func trim() {
        if head == places.count {
            firstTicket &+= head
            head = 0
            places.removeAll(keepingCapacity: true)
        } else if head >= 64, head * 2 > places.count {
            // Half of it is used up: moving the rest costs each element one move in all.
            firstTicket &+= head
            places.removeFirst(head)
            head = 0
        }
    }
}
