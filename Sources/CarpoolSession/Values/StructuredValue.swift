/// A structured value: the input of parameter encoding, and the result of reading a property list. JSON's kinds, plus
/// bytes and dates; an object keeps the order of its members, and an integer is not a real (`1` and `1.0` differ).
public indirect enum StructuredValue: Equatable, Sendable {
    /// Null.
    case null
    /// A boolean.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A whole number beyond 63 bits.
    case unsigned(UInt64)
    /// A number with a fraction or an exponent.
    case real(Double)
    /// A decimal number. Forms write its shortest spelling, as in the model (FE-17); JSON the original one.
    case decimal(String)
    /// A number that keeps its original spelling (RFC 8259, section 6), in forms and in JSON.
    case number(String)
    /// A text.
    case string(String)
    /// Bytes.
    case data([UInt8])
    /// A point in time, in seconds since 1970-01-01T00:00:00Z.
    case date(Double)
    /// Values in order.
    case array([StructuredValue])
    /// Named values in order.
    case object([Member])

    /// One named value of an object.
    public struct Member: Equatable, Sendable {
        /// Its name.
        public var name: String
        /// Its value.
        public var value: StructuredValue

        /// Makes a member.
        public init(_ name: String, _ value: StructuredValue) {
            self.name = name
            self.value = value
        }
    }
}
