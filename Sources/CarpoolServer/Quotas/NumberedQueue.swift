/// A queue from which an element can also be taken by its number. Every operation takes constant time on average, but
/// for the removal by number, which searches in logarithmic time.
struct NumberedQueue<Element> {
    /// In the order of their numbers; an element that was removed leaves its place empty.
    private var items: [(number: Int, element: Element?)] = []
    private var head = 0
    private var last = 0
    /// How many elements there are.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// Empty places that are kept.
    private static var keptPlaces: Int { 64 }

    /// Adds an element at the end. Returns its number.
    @discardableResult mutating func append(_ element: Element) -> Int {
        last += 1
        items.append((last, element))
        count += 1
        return last
    }

    /// Takes out the first element.
    mutating func popFirst() -> Element? {
        while head < items.count {
            let element = items[head].element
            items[head].element = nil
            head += 1
            guard let element else { continue }
            count -= 1
            compact()
            return element
        }
        return nil
    }

    /// Takes out the element with a number; nil if it is not there any more.
    @discardableResult mutating func remove(_ number: Int) -> Element? {
        var (low, high) = (head, items.count)
        while low < high {
            let middle = (low + high) / 2
            if items[middle].number < number { low = middle + 1 } else { high = middle }
        }
        guard low < items.count, items[low].number == number, let element = items[low].element else { return nil }
        items[low].element = nil
        count -= 1
        compact()
        return element
    }

    /// Closes up when most places are empty, so that each element is moved a bounded number of times.
    private mutating func compact() {
        guard items.count > 2 * count + NumberedQueue.keptPlaces else { return }
        items = items[head...].filter { $0.element != nil }
        head = 0
    }
}
