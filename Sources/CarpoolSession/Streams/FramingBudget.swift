/// The budget for framing in one call, counted in steps instead of time, so that the same bytes are always cut alike.
struct FramingBudget {
    private var left = FramingBudget.steps

    /// The steps of one call: calls of a framer, of about half a millisecond together.
    static let steps = 1_024
    /// How many bytes count as one more step, since searching a long line takes time too.
    private static let bytesPerStep = 256

    /// Whether the rest has to wait.
    var isSpent: Bool { left <= 0 }

    /// Charges one call of a framer that has taken so many bytes.
    mutating func spend(bytes: Int) { left -= 1 + bytes / FramingBudget.bytesPerStep }
}
