/// Changes the bytes of a body before a serializer sees them (RS-09).
public protocol ResponsePreprocessor {
    /// Gives the bytes to serialize. Called only for bodies that are not empty (RS-11). Answers once, now or later, on the session's loop.
    func preprocess(_ body: [UInt8], of request: Request, completion: @escaping (Result<[UInt8], SessionError>) -> Void)
}
