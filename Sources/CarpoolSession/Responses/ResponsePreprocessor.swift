/// Changes the bytes of a body before a serializer sees them (RS-09).
public protocol ResponsePreprocessor {
    /// Returns the bytes to serialize. Called only for bodies that are not empty (RS-11). Answers once, now or later,
    /// on the session's loop.
    func preprocess(_ body: [UInt8], of request: Request, completion: @escaping (Result<[UInt8], SessionError>) -> Void)
    /// Changes the bytes as a pure function, which a thread may run on a large body; `nil` if there is none.
    var transform: (@Sendable ([UInt8]) -> [UInt8])? { get }
}

extension ResponsePreprocessor {
    /// The default: `nil`.
    public var transform: (@Sendable ([UInt8]) -> [UInt8])? { nil }
}
