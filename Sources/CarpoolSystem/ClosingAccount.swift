/// Counts the descriptors of each user that wait to be closed, and says which users have too many.
///
/// A file system or a socket can hold a close(2) without end; each one that waits behind it keeps its number. The
/// input of a user with too many is not read until half of them are closed.
struct ClosingAccount {
    /// Maximum number of descriptors of a user that wait: as many as four reads can receive, the maximum that one
    /// connection may have under way.
    static let maximum = 1_012

    let maximum: Int
    private var counts: [UInt32: Int] = [:]
    private var full: Set<UInt32> = []

    init(maximum: Int = ClosingAccount.maximum) { self.maximum = maximum }

    /// Whether a user has too many.
    func isFull(_ user: UInt32) -> Bool { !full.isEmpty && full.contains(user) }

    /// Counts descriptors that are to be closed, or, below zero, that are closed. Returns whether the user has become
    /// full or not full by that.
    mutating func change(_ user: UInt32, by count: Int) -> Bool {
        let now = (counts[user] ?? 0) + count
        counts[user] = now > 0 ? now : nil
        if now >= maximum { return full.insert(user).inserted }
        return now <= maximum / 2 && full.remove(user) != nil
    }
}
