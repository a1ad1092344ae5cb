/// Those that wait for the head of one fetch, in order, and how many leaders have failed (HX-03 to HX-05). A value.
struct WaitingList<Element> {
    /// What follows when the leader has failed before a head.
    enum Succession {
        /// Nobody waits.
        case none
        /// The first becomes the leader; the others wait for it.
        case promote(Element, others: [Element])
        /// Too many leaders have failed: all go alone.
        case release([Element])
    }

    private var elements: [Element] = []
    /// Leaders that have failed so far.
    var failedLeaders = 0

    /// The most leaders of a list.
    static var maximumLeaders: Int { 3 }

    var isEmpty: Bool { elements.isEmpty }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func remove(where matches: (Element) -> Bool) { elements.removeAll(where: matches) }

    /// Takes all out.
    mutating func takeAll() -> [Element] {
        defer { elements = [] }
        return elements
    }

    /// The leader has failed before a head.
    mutating func succeed() -> Succession {
        failedLeaders += 1
        let all = takeAll()
        guard let first = all.first else { return .none }
        guard failedLeaders < WaitingList.maximumLeaders else { return .release(all) }
        return .promote(first, others: Array(all.dropFirst()))
    }
}
