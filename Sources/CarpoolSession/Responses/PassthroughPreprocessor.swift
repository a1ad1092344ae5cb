/// Returns the bytes unchanged.
public struct PassthroughPreprocessor: ResponsePreprocessor {
    /// Makes the preprocessor.
    public init() {}

    /// Returns the same bytes.
    public func preprocess(
        _ body: [UInt8], of request: Request, completion: @escaping (Result<[UInt8], SessionError>) -> Void
    ) {
        completion(.success(body))
    }

    /// Returns the same bytes.
    public var transform: (@Sendable ([UInt8]) -> [UInt8])? { { $0 } }
}
