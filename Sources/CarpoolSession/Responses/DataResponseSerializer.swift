/// Returns the bytes of a body (RS-03).
public struct DataResponseSerializer: ResponseSerializer {
    private let input: SerializerInput

    /// Makes the serializer.
    public init(input: SerializerInput = SerializerInput()) { self.input = input }

    /// `data`
    public var name: String { "data" }
    /// A failure is passed to the retriers.
    public var isTyped: Bool { true }

    /// Returns the bytes; none for an empty body that is allowed, otherwise fails with
    /// `response_serialization_failed.input_data_nil_or_zero_length`.
    public func serialize(_ request: Request, completion: @escaping (Result<SerializedValue, SessionError>) -> Void) {
        input.serialize(request, completion: completion) { (bytes) throws(SessionError) in .data(bytes ?? []) }
    }
}
