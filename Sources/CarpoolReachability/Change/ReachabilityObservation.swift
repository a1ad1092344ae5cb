/// Keeps an observer of a ``NetworkReachabilityManager`` registered for as long as it is held.
public final class ReachabilityObservation {
    let onChange: (ReachabilityChange) -> Void
    let onLook: () -> Void
    /// The last change and look that a sliced observer was called for.
    var position: Position

    struct Position {
        var reading: ReachabilityReading
        var change = 0
        var look = 0
    }

    /// A weak reference, for those who call the observer.
    struct Weak {
        weak var observation: ReachabilityObservation?
    }

    init(
        _ reading: ReachabilityReading, _ onChange: @escaping (ReachabilityChange) -> Void,
        _ onLook: @escaping () -> Void
    ) {
        position = Position(reading: reading)
        self.onChange = onChange
        self.onLook = onLook
    }
}
