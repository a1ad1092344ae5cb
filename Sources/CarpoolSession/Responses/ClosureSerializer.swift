/// A serializer made of a program's closure.
public struct ClosureSerializer: ResponseSerializer {
    /// Its name in records and events.
    public let name: String
    private let body: (Request, [UInt8]) throws -> SerializedValue

    /// Makes a serializer of a closure, which gets the body's bytes, at most ``SerializerInput/maximumBytes`` of them
    /// and possibly none. An error that
    /// it throws is the failure: a `SessionError` as it is, any other inside
    /// `response_serialization_failed.custom_serialization_failed` (RS-10).
    public init(name: String = "closure", _ body: @escaping (Request, [UInt8]) throws -> SerializedValue) {
        self.name = name
        self.body = body
    }

    /// A failure is passed to the retriers.
    public var isTyped: Bool { true }

    /// Calls the closure.
    public func serialize(_ request: Request, completion: @escaping (Result<SerializedValue, SessionError>) -> Void) {
        request.body.bytes(atMost: SerializerInput.maximumBytes) { bytes in
            do {
                completion(.success(try body(request, try bytes.get())))
            } catch {
                completion(.failure(error as? SessionError ?? .customSerializationFailed(SessionError(thrown: error))))
            }
        }
    }
}
