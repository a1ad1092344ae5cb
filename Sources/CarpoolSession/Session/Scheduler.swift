public import CarpoolSystem

/// Does things later, on the session's loop: back-off, deadlines.
public protocol Scheduler: AnyObject {
    /// The machine's monotonic clock as this turn of the loop sees it.
    var now: MonotonicTime { get }
    /// Has the timer's action called after so many milliseconds; again armed, it moves.
    func arm(_ timer: Timer, afterMilliseconds milliseconds: Int)
    /// Takes a timer back.
    func cancel(_ timer: Timer)
    /// Runs a block on the loop, from any thread: for what comes from elsewhere, as the cancellation of a task may.
    func post(_ block: @escaping @Sendable () -> Void)
    /// Carries out long work slice by slice, in turns with all else, until it says that nothing is left.
    func runInSlices(_ work: any SlicedWork)
}

extension Scheduler {
    /// Up to so many steps are carried out at once.
    private static var stepsAtOnce: Int { 4 }

    /// Carries out a step for each element: at once if they are few, else in slices, so that a crowd that waits for one thing does not hold up
    /// the loop.
    public func forEach<Element>(of elements: [Element], _ step: @escaping (Element) -> Void) {
        guard elements.count > Self.stepsAtOnce else {
            for element in elements { step(element) }
            return
        }
        runInSlices(Slices.forEach(of: elements, step))
    }
}

extension EventLoop: Scheduler {}
