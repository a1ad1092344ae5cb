/// Keeps an observer of a ``NetworkReachabilityManager`` registered for as long as it is held.
public final class ReachabilityObservation {
    let onChange: (ReachabilityChange) -> Void
    let onLook: () -> Void
    /// The last change and look that an observer was called for which is called in slices.
    var position: Position

    struct Position {
        var reading: ReachabilityReading
        var change = 0
        var look = 0
    }

    /// Held by those who call the observer.
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
