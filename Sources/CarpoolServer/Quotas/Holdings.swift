/// How much of something each holder has.
///
/// A few of those that have given everything back keep their place in the table, so that one request after the other
/// costs no memory.
struct Holdings<Holder: Hashable> {
    private var amounts: [Holder: Int] = [:]
    /// How much all have.
    private(set) var sum = 0
    /// How many have something.
    private(set) var count = 0

    /// Places that are kept for those that have nothing.
    private static var keptPlaces: Int { 64 }

    /// Places in the table.
    var places: Int { amounts.count }

    subscript(holder: Holder) -> Int { amounts[holder] ?? 0 }

    mutating func add(_ amount: Int, to holder: Holder) {
        let now = Holdings.change(&amounts[holder, default: 0], by: amount)
        sum &+= amount
        if now == amount { count += 1 }
    }

    /// Removes an amount, as far as the holder has it. Returns how much was removed.
    mutating func remove(_ amount: Int, from holder: Holder) -> Int {
        let held = self[holder]
        guard held > 0 else { return 0 }
        let given = min(amount, held)
        sum &-= given
        if held > given || amounts.count <= Holdings.keptPlaces {
            amounts[holder] = held &- given
        } else {
            amounts[holder] = nil
        }
        if held == given { count -= 1 }
        return given
    }

    private static func change(_ amount: inout Int, by change: Int) -> Int {
        amount &+= change
        return amount
    }
}
