internal import CarpoolSystem

/// Calls thousands of observers in slices after an evaluation, each with the change since it was called last.
final class SlicedObservers: SlicedWork {
    private struct Cause {
        var number: Int
        var causes: ReachabilityCauses
        var firstEvent: MonotonicTime
    }

    private let loop: EventLoop
    private var observations: [ReachabilityObservation.Weak] = []
    private var current: ReachabilityReading
    private var evaluations = 0
    private var changes = 0
    /// The causes of changes for which some observers were not called yet.
    private var causes: [Cause] = []
    /// The change of the previous observer: most get the same.
    private var last: ReachabilityChange?
    private var isRunning = false
    /// The next observer to call, and the number of evaluations at the beginning of the round.
    private var next = 0
    private var evaluationsAtStart = 0
    /// The number of observers after ended ones were last removed.
    private var kept = 0

    /// Maximum number of causes that are kept separately.
    private static let maximumCauses = 64
    private static let sliceMicroseconds = 500

    init(loop: EventLoop, current: ReachabilityReading) {
        self.loop = loop
        self.current = current
    }

    /// Adds an observer that has the newest reading.
    func add(_ observation: ReachabilityObservation) {
        if !isRunning, observations.count > 2 * kept + 64 { removeEnded() }
        observation.position = ReachabilityObservation.Position(reading: current, change: changes, look: evaluations)
        observations.append(.init(observation: observation))
    }

    /// Records an evaluation and the change that it has found.
    func didEvaluate(_ reading: ReachabilityReading, _ change: ReachabilityChange?) {
        current = reading
        evaluations += 1
        if let change { note(change) }
        guard !observations.isEmpty, !isRunning else { return }
        isRunning = true
        begin()
        loop.runInSlices(self)
    }

    private func note(_ change: ReachabilityChange) {
        changes += 1
        if observations.isEmpty { return causes.removeAll() }
        causes.append(Cause(number: changes, causes: change.causes, firstEvent: change.firstEvent))
        guard causes.count > SlicedObservers.maximumCauses else { return }
        let oldest = causes.removeFirst()
        causes[0].causes.formUnion(oldest.causes)
        causes[0].firstEvent = oldest.firstEvent
    }

    private func begin() {
        next = 0
        evaluationsAtStart = evaluations
    }

    func runSlice() -> Bool {
        let slice = TimeSlice(microseconds: SlicedObservers.sliceMicroseconds)
        repeat {
            guard next < observations.count else { return endRound() }
            if let observation = observations[next].observation { call(observation) }
            next += 1
        } while !slice.isOver
        return true
    }

    /// Ends a round. Returns whether another one follows, since there was another evaluation meanwhile.
    private func endRound() -> Bool {
        removeEnded()
        if evaluationsAtStart == evaluations {
            isRunning = false
            causes.removeAll()
            last = nil
            return false
        }
        begin()
        return true
    }

    private func removeEnded() {
        observations.removeAll { $0.observation == nil }
        kept = observations.count
    }

    private func call(_ observation: ReachabilityObservation) {
        let known = observation.position
        observation.position = ReachabilityObservation.Position(reading: current, change: changes, look: evaluations)
        if known.change != changes, known.reading.snapshot != current.snapshot {
            observation.onChange(change(since: known))
        }
        if known.look != evaluations { observation.onEvaluation() }
    }

    private func change(since known: ReachabilityObservation.Position) -> ReachabilityChange {
        if let last, last.previous.time == known.reading.time, last.current.time == current.time { return last }
        let unknown = causes.filter { $0.number > known.change }
        let change = ReachabilityChange(
            from: known.reading, to: current,
            causes: unknown.reduce(into: ReachabilityCauses()) { $0.formUnion($1.causes) },
            firstEvent: unknown.first?.firstEvent ?? current.time)
        last = change
        return change
    }
}
