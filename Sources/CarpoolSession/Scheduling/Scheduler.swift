public import CarpoolSystem

/// Schedules work on the session's loop, such as back-off delays and deadlines.
public protocol Scheduler: AnyObject {
    /// The monotonic clock, as read at the start of the current turn of the loop.
    var now: MonotonicTime { get }
    /// Arms a timer: its action is called after so many milliseconds. A timer that is armed already is moved.
    func arm(_ timer: Timer, afterMilliseconds milliseconds: Int)
    /// Cancels a timer.
    func cancel(_ timer: Timer)
    /// Runs a block on the loop; may be called from any thread, for example when a Swift task is cancelled.
    func post(_ block: @escaping @Sendable () -> Void)
    /// Runs long work in slices, interleaved with other work, until it reports that nothing is left.
    func runInSlices(_ work: any SlicedWork)
    /// The executor whose tasks run on the loop; `nil`, the default, if there is none: the end of a request that a task
    /// waits for is then delivered by Swift's own threads.
    var taskExecutor: (any TaskExecutor)? { get }
}

extension Scheduler {
    /// None.
    public var taskExecutor: (any TaskExecutor)? { nil }

    /// The largest number of steps that are carried out in one turn.
    private static var stepsAtOnce: Int { 4 }

    /// Carries out a step for each element: in one turn if they are few, otherwise in slices, so that many waiting
    /// requests do not block the loop.
    public func forEach<Element>(of elements: [Element], _ step: @escaping (Element) -> Void) {
        guard elements.count > Self.stepsAtOnce else {
            for element in elements { step(element) }
            return
        }
        runInSlices(Slices.forEach(of: elements, step))
    }
}

extension EventLoop: Scheduler {
    /// The loop itself.
    public var taskExecutor: (any TaskExecutor)? { self }
}
