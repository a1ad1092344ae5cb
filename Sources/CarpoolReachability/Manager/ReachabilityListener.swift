public import CarpoolSystem

/// One listener of a manager: a ``Debouncer`` with a timer.
public final class ReachabilityListener {
    private let manager: NetworkReachabilityManager
    private let loop: EventLoop
    private var debouncer: Debouncer
    private var observation: NetworkReachabilityManager.Observation?
    private let onChange: (ReachabilityChange) -> Void
    private lazy var timer = Timer { [weak self] in self?.deadlineDidCome() }

    /// Starts listening, until ``stop()``.
    /// - Parameters:
    ///   - isSliced: whether it is called in slices, as one of many.
    ///   - onChange: called on the loop with the change since the last report.
    public init(
        _ manager: NetworkReachabilityManager, loop: EventLoop, settings: Debouncer.Settings, isSliced: Bool = false,
        onChange: @escaping (ReachabilityChange) -> Void
    ) {
        self.manager = manager
        self.loop = loop
        self.onChange = onChange
        debouncer = Debouncer(settings, reported: manager.reading)
        observation = manager.observe(isSliced: isSliced) { [weak self] in self?.offer($0) }
    }

    /// The reading that was reported last, or at the start.
    public var reported: ReachabilityReading { debouncer.reported }

    /// Stops listening.
    public func stop() {
        observation = nil
        loop.cancel(timer)
    }

    private func offer(_ change: ReachabilityChange) {
        // The change is a moment later than the beginning of the turn.
        let now = max(change.current.time, loop.now)
        carryOut(debouncer.offer(change.current, causes: change.causes, firstEvent: change.firstEvent, at: now))
    }

    /// Evaluates again: a pending change is reported only if it still exists.
    private func deadlineDidCome() {
        manager.evaluateOncePerTurn()
        guard observation != nil else { return }
        carryOut(debouncer.deadlineDidCome(manager.reading, at: max(MonotonicTime.read(), loop.now)))
    }

    private func carryOut(_ action: Debouncer.Action) {
        switch action {
        case .none: loop.cancel(timer)
        case .wait(let deadline): loop.arm(timer, at: deadline)
        case .report(let change):
            loop.cancel(timer)
            onChange(change)
        }
    }
}
