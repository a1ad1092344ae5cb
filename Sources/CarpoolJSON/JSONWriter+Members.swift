// A member's name and value in one call; an optional that is nil writes no member.
extension JSONWriter {
    /// A member with a string.
    public mutating func member(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        key(name)
        string(value)
    }

    /// A member with a string known at compile time, which must need no escape.
    public mutating func member(_ name: StaticString, static value: StaticString) {
        key(name)
        string(static: value)
    }

    /// A member with an integer.
    public mutating func member(_ name: StaticString, _ value: Int64?) {
        guard let value else { return }
        key(name)
        integer(value)
    }

    /// A member with an integer.
    @inlinable
    public mutating func member(_ name: StaticString, _ value: (some BinaryInteger)?) {
        guard let value else { return }
        key(name)
        integer(value)
    }

    /// A member with a real.
    public mutating func member(_ name: StaticString, _ value: Double?) {
        guard let value else { return }
        key(name)
        real(value)
    }

    /// A member with a truth value.
    public mutating func member(_ name: StaticString, _ value: Bool?) {
        guard let value else { return }
        key(name)
        bool(value)
    }

    /// A member with a parsed value.
    public mutating func member(_ name: StaticString, _ value: JSON?) {
        guard let value else { return }
        key(name)
        self.value(value)
    }

    /// A member with an array of strings.
    public mutating func member(_ name: StaticString, _ values: [String]?) {
        guard let values else { return }
        key(name)
        beginArray()
        for value in values { string(value) }
        endArray()
    }
}
