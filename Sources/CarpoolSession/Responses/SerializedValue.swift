public import CarpoolJSON

/// The result of a serializer.
public enum SerializedValue {
    /// No serializer: the body itself is the result.
    case none
    /// The bytes, after preprocessing.
    case data([UInt8])
    /// A text.
    case string(String)
    /// A JSON value.
    case json(JSON)
    /// A JSON text that is passed on without being parsed.
    case jsonText(JSONText)
    /// A property list, or the answer of a client's own serializer.
    case structured(StructuredValue)
    /// A value whose JSON text is longer than ``SerializerInput/maximumTextBytes``.
    case omitted
}
