/// A list sorted by growing numbers: elements are added at the end, found and removed by number, and read in order from
/// any number on.
///
/// Removed elements leave gaps. Gaps at the beginning are skipped, and the others are removed when there are more of
/// them than elements. So finding costs O(log n), removing O(log n) on average, and adding an element that is not the
/// last O(n).
struct OrderedEntries<Element: AnyObject> {
    private struct Slot {
        let number: Int
        var entry: Element?
    }

    private var slots: [Slot] = []
    /// The place of the first request; only gaps are before it.
    private var start = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// Fewer gaps than this are not worth the copy.
    private static var keptGaps: Int { 64 }

    mutating func insert(_ entry: Element, at number: Int) {
        count += 1
        let slot = Slot(number: number, entry: entry)
        if slots.last.map({ $0.number < number }) ?? true {
            slots.append(slot)
        } else {
            slots.insert(slot, at: index(after: number))
        }
    }

    mutating func remove(_ number: Int) {
        if slots.last?.number == number {
            slots.removeLast()
            count -= 1
            while let last = slots.last, last.entry == nil { slots.removeLast() }
            start = min(start, slots.count)
            return
        }
        let index = index(after: number) - 1
        guard index >= 0, slots[index].number == number, slots[index].entry != nil else { return }
        slots[index].entry = nil
        count -= 1
        while start < slots.count, slots[start].entry == nil { start += 1 }
        if slots.count > 2 * count + OrderedEntries.keptGaps { close() }
    }

    /// Releases memory that is not needed.
    mutating func shrink() {
        guard slots.capacity > 4 * count + OrderedEntries.keptGaps else { return }
        close()
    }

    /// Takes the gaps out.
    private mutating func close() {
        slots = slots.filter { $0.entry != nil }
        start = 0
    }

    /// Reads the elements after a number, in order, until the body returns false.
    func read(after number: Int, _ body: (Int, Element) -> Bool) {
        var index = index(after: number)
        while index < slots.count {
            let slot = slots[index]
            if let entry = slot.entry, !body(slot.number, entry) { return }
            index += 1
        }
    }

    /// The first place whose number is larger.
    private func index(after number: Int) -> Int {
        var (low, high) = (start, slots.count)
        while low < high {
            let middle = (low + high) / 2
            if slots[middle].number <= number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
