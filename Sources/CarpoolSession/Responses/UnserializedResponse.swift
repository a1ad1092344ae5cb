/// The plain handler: returns no value, so the body itself is the result.
public struct UnserializedResponse: ResponseSerializer {
    /// Makes the handler.
    public init() {}

    /// `none`
    public var name: String { "none" }
    /// It never fails, so no retrier is asked.
    public var isTyped: Bool { false }

    /// Returns no value.
    public func serialize(_ request: Request, completion: @escaping (Result<SerializedValue, SessionError>) -> Void) {
        completion(.success(.none))
    }
}
