internal import CarpoolRPC

/// Finds the row of an event type in the table by its name.
///
/// Names are literals of the program, so the place where one lies stands for it after its first use: an event costs a comparison of
/// addresses, and no hashing of its name.
struct EventTypeIndex {
    private struct Slot {
        var start: UnsafePointer<UInt8>?
        var index = 0
    }

    private let byName: [String: Int]
    private var slots = [Slot](repeating: Slot(), count: EventTypeIndex.slotCount)

    /// A power of two, several times the number of types, so that few share a slot.
    private static let slotCount = 512

    init() {
        byName = Dictionary(
            EventType.all.enumerated().map { ($1.name.description, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The row of that name; `nil` if the table has none.
    mutating func index(of name: StaticString) -> Int? {
        let start = name.utf8Start
        let place = Int(bitPattern: start) &>> 2 & (EventTypeIndex.slotCount &- 1)
        if slots[place].start == start { return slots[place].index }
        guard let index = byName[name.description] else { return nil }
        slots[place] = Slot(start: start, index: index)
        return index
    }
}
