internal import CarpoolSystem

/// What all readers of streams together may send at once in a turn of the loop. What does not fit is sent in slices, in
/// turns with all other work.
final class DeliveryBudget {
    private unowned let loop: EventLoop
    private var turn = -1
    private var slice = TimeSlice(microseconds: 0)

    /// Time for sending at once per turn, of all readers.
    private static let microseconds = 2_000
    /// Time of a reader's slice.
    private static let sliceMicroseconds = 500

    init(loop: EventLoop) { self.loop = loop }

    /// The time that is left of this turn's; `nil` if there is none.
    func rest() -> TimeSlice? {
        guard turn == loop.turns else {
            turn = loop.turns
            slice = TimeSlice(microseconds: DeliveryBudget.microseconds)
            return slice
        }
        return slice.isOver ? nil : slice
    }

    /// The time of one slice.
    func nextSlice() -> TimeSlice { TimeSlice(microseconds: DeliveryBudget.sliceMicroseconds) }

    /// Runs the rest in slices, until one returns that nothing is left.
    func runLater(_ slice: @escaping () -> Bool) { loop.runInSlices(Slices(slice)) }
}
