/// A setting with a default.
public struct Setting<Value> {
    /// The effective value: the one that was set, or the inherited one, or the default.
    public private(set) var value: Value
    /// Whether a value was set here, rather than inherited.
    public private(set) var isGiven = false

    init(_ standard: Value) { value = standard }

    /// The value that was set here; `nil` if there is none.
    public var given: Value? { isGiven ? value : nil }

    /// Sets a value; `nil` changes nothing.
    public mutating func set(_ new: Value?) {
        guard let new else { return }
        value = new
        isGiven = true
    }

    /// Takes the value of a session's setting unless one was given here.
    @inline(__always)
    mutating func inherit(_ base: borrowing Setting) {
        if !isGiven { value = base.value }
    }
}
