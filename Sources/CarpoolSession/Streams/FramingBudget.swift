/// What making records of a stream's bytes may cost at a time, counted in steps instead of time, so that the same bytes are always cut alike.
struct FramingBudget {
    private var left = FramingBudget.steps

    /// Lines or records of any length; about half a millisecond.
    static let steps = 1_024
    /// Bytes that count as one step more: to look for the end of a long line takes time too.
    private static let bytesPerStep = 256

    /// Whether the rest has to wait.
    var isSpent: Bool { left <= 0 }

    /// Notes that a framer has taken so many bytes at once.
    mutating func spend(bytes: Int) { left &-= 1 &+ bytes / FramingBudget.bytesPerStep }
}
