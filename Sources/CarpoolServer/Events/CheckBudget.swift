/// A budget of event checks for many listeners in one step: each listener has its own part, and all share the rest.
/// The total is bounded, since there may be many listeners.
struct CheckBudget {
    private let ownChecks: Int
    private var own = 0
    private var shared: Int
    /// What is left of the total.
    private var total: Int

    init(own: Int, shared: Int, total: Int) {
        ownChecks = own
        self.shared = shared
        self.total = total
    }

    /// Begins the next listener's share.
    mutating func begin() { own = min(ownChecks, total) }

    /// Takes so many checks from the budget. Returns false if none are left.
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
