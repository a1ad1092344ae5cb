internal import CarpoolSystem

/// What the serializers have in common: whether a body may be empty, and what is done to its bytes before they are read.
public struct SerializerInput {
    /// The largest body that becomes a value, 16 MiB: it is held in memory as a whole. Larger ones are for files.
    public static let maximumBytes = 16_777_216

    /// When a body may be empty.
    public var emptyResponse: EmptyResponseRule
    /// What changes the bytes first.
    public var preprocessor: any ResponsePreprocessor
    /// If set, a thread that makes a value also writes it as JSON, and one whose text is longer is ``SerializedValue/omitted``: for a program
    /// that passes values on in lines.
    public var maximumTextBytes: Int?

    /// Makes an input with the defaults of the session model.
    public init(
        emptyResponse: EmptyResponseRule = EmptyResponseRule(),
        preprocessor: any ResponsePreprocessor = PassthroughPreprocessor(), maximumTextBytes: Int? = nil
    ) {
        self.emptyResponse = emptyResponse
        self.preprocessor = preprocessor
        self.maximumTextBytes = maximumTextBytes
    }

    /// Hands the bytes of a body on, preprocessed, and gives what is made of them; `nil` stands for an empty body that is allowed. A
    /// preprocessor that leaves nothing does not make the body an empty one (RS-11). A thread makes the value of a large body, and of any body
    /// with `isCostly`; the request waits for it in its state, and may be cancelled meanwhile.
    func serialize(
        _ request: Request, isCostly: Bool = false,
        completion: @escaping (Result<SerializedValue, SessionError>) -> Void, by decode: @escaping Decoder
    ) {
        guard request.body.count > 0 else {
            guard emptyResponse.allows(request) else { return completion(.failure(.inputDataNilOrZeroLength)) }
            return completion(SerializerInput.value(of: nil, decode))
        }
        request.body.bytes(atMost: SerializerInput.maximumBytes) { [self] read in
            switch read {
            case .failure(let error): completion(.failure(error))
            case .success(let bytes):
                if bytes.count > FileStore.inlineBytes, let transform = preprocessor.transform {
                    return serializeInBackground(bytes, of: request, transform, completion: completion, by: decode)
                }
                preprocessor.preprocess(bytes, of: request) { result in
                    switch result {
                    case .failure(let error): completion(.failure(error))
                    case .success(let bytes) where isCostly || bytes.count > FileStore.inlineBytes:
                        serializeInBackground(bytes, of: request, nil, completion: completion, by: decode)
                    case .success(let bytes): completion(SerializerInput.value(of: bytes, decode))
                    }
                }
            }
        }
    }

    /// What makes a value of the bytes of a body, on any thread.
    typealias Decoder = @Sendable ([UInt8]?) throws(SessionError) -> SerializedValue

    private static func value(of bytes: [UInt8]?, _ decode: Decoder) -> Result<SerializedValue, SessionError> {
        Result { () throws(SessionError) in try decode(bytes) }
    }

    private func serializeInBackground(
        _ bytes: [UInt8], of request: Request, _ transform: (@Sendable ([UInt8]) -> [UInt8])?,
        completion: @escaping (Result<SerializedValue, SessionError>) -> Void, by decode: @escaping Decoder
    ) {
        let (files, maximumTextBytes) = (request.session.files, maximumTextBytes)
        let work = { @Sendable in
            let value = SerializerInput.value(of: transform?(bytes) ?? bytes, decode)
            // A tree of many values would be written, and let go of, on the loop.
            return Handover(maximumTextBytes.map { limit in value.map { $0.written(atMost: limit) } } ?? value)
        }
        files.runAlways(for: files.shareOfRequest(request).computation, work) { completion($0.value) }
    }
}
