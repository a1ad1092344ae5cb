/// A completion that accepts one answer, immediate or later; further answers are dropped.
///
/// An answer that arrives during the call is returned instead of passed to a closure, so that a chain of
/// immediate answers is a loop and not a recursion, whatever its length.
final class PendingAnswer<Value> {
    private enum Stage {
        case asking
        case answered(Value)
        case waiting((Value) -> Void)
        case done
    }

    private var stage = Stage.asking

    /// Delivers the answer.
    func give(_ value: Value) {
        switch stage {
        case .asking: stage = .answered(value)
        case .waiting(let body):
            stage = .done
            body(value)
        case .answered, .done: break
        }
    }

    /// Returns the answer, if it has arrived; otherwise the body is called with it when it arrives.
    func take(orLater body: @escaping (Value) -> Void) -> Value? {
        guard case .answered(let value) = stage else {
            stage = .waiting(body)
            return nil
        }
        stage = .done
        return value
    }
}
