/// Parses a body as a property list, XML or binary (RS-06).
public struct PropertyListResponseSerializer: ResponseSerializer {
    private let input: SerializerInput

    /// Makes the serializer.
    public init(input: SerializerInput = SerializerInput()) { self.input = input }

    /// `plist`
    public var name: String { "plist" }
    /// A failure is passed to the retriers.
    public var isTyped: Bool { true }

    /// Returns the value, which a thread parses; nothing for an empty body that is allowed. Fails with
    /// `response_serialization_failed.decoding_failed`.
    public func serialize(_ request: Request, completion: @escaping (Result<SerializedValue, SessionError>) -> Void) {
        input.serialize(request, isCostly: true, completion: completion) { (bytes) throws(SessionError) in
            guard let bytes else { return .structured(.null) }
            do throws(SessionError) {
                return .structured(try PropertyList.decode(bytes))
            } catch {
                throw .decodingFailed(error)
            }
        }
    }
}
