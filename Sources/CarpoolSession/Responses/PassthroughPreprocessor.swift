/// Leaves the bytes as they are.
public struct PassthroughPreprocessor: ResponsePreprocessor {
    /// Makes the preprocessor.
    public init() {}

    /// Gives the same bytes.
    public func preprocess(
        _ body: [UInt8], of request: Request, completion: @escaping (Result<[UInt8], SessionError>) -> Void
    ) {
        completion(.success(body))
    }

    /// The same bytes.
    public var transform: (@Sendable ([UInt8]) -> [UInt8])? { { $0 } }
}
