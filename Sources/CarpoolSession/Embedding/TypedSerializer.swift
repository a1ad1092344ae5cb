/// A serializer whose value keeps the type that a program asked for.
final class TypedSerializer<Value>: ResponseSerializer {
    let name: String
    let isTyped: Bool
    /// What was made of the body last.
    private(set) var value: Value?
    private let serializer: any ResponseSerializer
    private let type: (SerializedValue) -> Value?

    /// Takes the value out of another serializer's; a value that is none of the type makes a failure of
    /// `response_serialization_failed.custom_serialization_failed`.
    init(_ serializer: any ResponseSerializer, _ type: @escaping (SerializedValue) -> Value?) {
        self.serializer = serializer
        self.type = type
        name = serializer.name
        isTyped = serializer.isTyped
    }

    func serialize(_ request: Request, completion: @escaping (Result<SerializedValue, SessionError>) -> Void) {
        value = nil
        serializer.serialize(request) { [self] result in
            guard case .success(let made) = result else { return completion(result) }
            value = type(made)
            guard value != nil else {
                return completion(
                    .failure(.customSerializationFailed(SessionError("thrown", "\(name) made another value"))))
            }
            completion(result)
        }
    }
}
