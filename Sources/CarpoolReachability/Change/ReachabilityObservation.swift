/// Keeps an observer of a ``NetworkReachabilityManager`` registered for as long as it is held.
public final class ReachabilityObservation {
    let onChange: (ReachabilityChange) -> Void
    let onEvaluation: () -> Void
    /// The last change and evaluation for which a sliced observer was called.
    var position: Position

    struct Position {
        var reading: ReachabilityReading
        var change = 0
        var look = 0
    }

    /// A weak reference, through which the observer is called.
    struct Weak {
        weak var observation: ReachabilityObservation?
    }

    init(
        _ reading: ReachabilityReading, _ onChange: @escaping (ReachabilityChange) -> Void,
        _ onEvaluation: @escaping () -> Void
    ) {
        position = Position(reading: reading)
        self.onChange = onChange
        self.onEvaluation = onEvaluation
    }
}
