/// The one answer to a question that may be answered at once, later, twice or never: the first answer counts, every other is dropped.
///
/// An answer that comes while the question is still being asked is handed back instead of called for, so that a chain of any length of
/// immediate answers is a loop and not a recursion.
final class PendingAnswer<Value> {
    private enum Stage {
        case asking
        case answered(Value)
        case waiting((Value) -> Void)
        case done
    }

    private var stage = Stage.asking

    /// Whoever was asked answers.
    func give(_ value: Value) {
        switch stage {
        case .asking: stage = .answered(value)
        case .waiting(let body):
            stage = .done
            body(value)
        case .answered, .done: break
        }
    }

    /// The answer, if it has come; else the body is called with it when it comes.
    func take(orLater body: @escaping (Value) -> Void) -> Value? {
        guard case .answered(let value) = stage else {
            stage = .waiting(body)
            return nil
        }
        stage = .done
        return value
    }
}
