/// How long to wait before the next look at a daemon that has gone: it is soon there when it was restarted.
struct Patience {
    /// The first pause in milliseconds.
    static let least = 20
    /// The longest pause in milliseconds: a look costs a failed connect.
    static let most = 1_000

    private var milliseconds = Patience.least

    /// The next pause, in milliseconds.
    mutating func next() -> Int {
        defer { milliseconds = min(Patience.most, milliseconds &* 2) }
        return milliseconds
    }
}
