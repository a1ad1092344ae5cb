/// Carries a value from the thread of a ``Worker`` that has created it to the loop.
///
/// `@unchecked Sendable` because the thread releases the value before the loop has it: a job must keep no reference
/// to a part of it.
public final class Handover<Value>: @unchecked Sendable {
    /// The value.
    public let value: Value

    /// Takes over a value that nothing else refers to.
    public init(_ value: Value) { self.value = value }
}
