// Literals of parameters in a program: `["name": "Ada", "born": 1815, "tags": ["maths", "poetry"]]`.

extension StructuredValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }
}

extension StructuredValue: ExpressibleByIntegerLiteral {
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension StructuredValue: ExpressibleByFloatLiteral {
    /// A number with a fraction.
    public init(floatLiteral value: Double) { self = .real(value) }
}

extension StructuredValue: ExpressibleByBooleanLiteral {
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension StructuredValue: ExpressibleByNilLiteral {
    /// Null.
    public init(nilLiteral: ()) { self = .null }
}

extension StructuredValue: ExpressibleByArrayLiteral {
    /// Values in order.
    public init(arrayLiteral elements: StructuredValue...) { self = .array(elements) }
}

extension StructuredValue: ExpressibleByDictionaryLiteral {
    /// Named values in the order of the literal.
    public init(dictionaryLiteral elements: (String, StructuredValue)...) {
        self = .object(elements.map { Member($0, $1) })
    }
}
