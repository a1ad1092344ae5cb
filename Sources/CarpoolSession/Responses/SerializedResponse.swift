/// The result of one serializer.
public struct SerializedResponse {
    /// The serializer's name.
    public let serializer: String
    /// The value, or the failure: the request's own, or the serializer's.
    public let result: Result<SerializedValue, SessionError>
    /// The duration, in microseconds; 0 for the plain handler (DR-05).
    public let durationMicroseconds: Int

    /// The failure, if there is one.
    public var error: SessionError? {
        if case .failure(let error) = result { return error }
        return nil
    }
}

extension SerializedResponse {
    /// The result of the plain handler: the body as it is, or the error.
    static func unserialized(_ error: SessionError?) -> SerializedResponse {
        SerializedResponse(
            serializer: "none", result: error.map { .failure($0) } ?? .success(.none), durationMicroseconds: 0)
    }
}
