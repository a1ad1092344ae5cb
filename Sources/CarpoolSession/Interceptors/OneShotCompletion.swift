/// A completion that accepts one answer, immediate or later; further answers are dropped.
///
/// An answer that arrives during the call is returned instead of passed to a closure, so that a chain of
/// immediate answers is a loop and not a recursion, whatever its length.
final class OneShotCompletion<Value> {
    private enum Stage {
        case calling
        case completed(Value)
        case waiting((Value) -> Void)
        case done
    }

    private var stage = Stage.calling

    /// Accepts the answer, if it is the first.
    func complete(_ value: Value) {
        switch stage {
        case .calling: stage = .completed(value)
        case .waiting(let body):
            stage = .done
            body(value)
        case .completed, .done: break
        }
    }

    /// Returns the answer, if it has arrived; otherwise the body is called with it when it arrives.
    func result(orLater body: @escaping (Value) -> Void) -> Value? {
        guard case .completed(let value) = stage else {
            stage = .waiting(body)
            return nil
        }
        stage = .done
        return value
    }
}
