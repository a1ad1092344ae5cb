/// The memory that connections use, by user: incomplete messages, and output that was not read.
final class ConnectionMemory {
    /// One kind of memory.
    struct Account {
        private(set) var total = 0
        private var byUser: [UInt32: Int] = [:]

        /// Notes that the connections of a user hold so much more, or less.
        mutating func change(_ uid: UInt32, by bytes: Int) {
            guard bytes != 0 else { return }
            total += bytes
            let now = (byUser[uid] ?? 0) + bytes
            byUser[uid] = now > 0 ? now : nil
        }

        /// Whether a user holds too much: all hold more than the limit, or the user more than half of it while another
        /// holds any.
        func isOver(_ limit: Int, for uid: UInt32) -> Bool {
            total > limit || byUser.count > 1 && byUser[uid] ?? 0 > limit / 2
        }

        /// The user whose connections have to release memory, as it holds most and too much; `nil` if none has to.
        func userOverLimit(_ limit: Int) -> UInt32? {
            guard total > limit / 2, let most = byUser.max(by: { $0.value < $1.value }) else { return nil }
            return isOver(limit, for: most.key) ? most.key : nil
        }
    }

    /// Smaller amounts are not counted: the number of connections bounds them.
    static let uncountedBytes = 16_384
    /// Unread output at which a connection is not read from while there is too much of it.
    static let shortOutputBytes = 65_536

    var input = Account()
    var output = Account()
    /// Called when the input has grown: makes room if there is too much.
    var inputDidGrow: () -> Void = {}
    /// Called when the output has grown: makes room if there is too much.
    var outputDidGrow: () -> Void = {}
}
