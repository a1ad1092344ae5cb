/// A serializer whose value has the type that a program requested.
final class TypedSerializer<Value>: ResponseSerializer {
    let name: String
    let isTyped: Bool
    /// The last value.
    private(set) var value: Value?
    private let serializer: any ResponseSerializer
    private let type: (SerializedValue) -> Value?

    /// Wraps another serializer and extracts its value; a value of another type is the failure
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
                    .failure(
                        .customSerializationFailed(SessionError("thrown", "\(name) returned a value of another type"))))
            }
            completion(result)
        }
    }
}
