/// How many looks at events may be spent on many listeners in one step: each has some of its own, so that what others need takes nothing from
/// them, and all share the rest. There is a bound for all of them, since there may be many listeners.
struct LookBudget {
    private let ownLooks: Int
    private var own = 0
    private var shared: Int
    /// What is left for the own looks of all.
    private var total: Int

    init(own: Int, shared: Int, total: Int) {
        ownLooks = own
        self.shared = shared
        self.total = total
    }

    /// Begins with the next listener.
    mutating func begin() { own = min(ownLooks, total) }

    /// Takes so many looks. Returns false if there are none left.
    mutating func take(_ count: Int = 1) -> Bool {
        if own > 0 {
            own &-= count
            total &-= count
            return true
        }
        guard shared > 0 else { return false }
        shared &-= count
        return true
    }
}
