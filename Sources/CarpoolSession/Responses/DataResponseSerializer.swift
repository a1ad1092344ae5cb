/// Makes the bytes of a body the value (RS-03).
public struct DataResponseSerializer: ResponseSerializer {
    private let input: SerializerInput

    /// Makes the serializer.
    public init(input: SerializerInput = SerializerInput()) { self.input = input }

    /// `data`
    public var name: String { "data" }
    /// A failure asks the retriers.
    public var isTyped: Bool { true }

    /// Gives the bytes; none for an empty body that is allowed, else `response_serialization_failed.input_data_nil_or_zero_length`.
    public func serialize(_ request: Request, completion: @escaping (Result<SerializedValue, SessionError>) -> Void) {
        input.serialize(request, completion: completion) { (bytes) throws(SessionError) in .data(bytes ?? []) }
    }
}
