/// Removes the line `)]}',` that keeps a browser from running a JSON text as a script (RS-09).
public struct XSSIPreprocessor: ResponsePreprocessor {
    private static let prefix = Array(")]}',\n".utf8)

    /// Makes the preprocessor.
    public init() {}

    /// Removes the six bytes if the body begins with them.
    public func preprocess(
        _ body: [UInt8], of request: Request, completion: @escaping (Result<[UInt8], SessionError>) -> Void
    ) {
        completion(.success(Self.withoutPrefix(body)))
    }

    /// Removes the line, as a pure function that may run on any thread.
    public var transform: (@Sendable ([UInt8]) -> [UInt8])? { Self.withoutPrefix }

    @Sendable private static func withoutPrefix(_ body: [UInt8]) -> [UInt8] {
        body.starts(with: prefix) ? Array(body.dropFirst(prefix.count)) : body
    }
}
