internal import CarpoolSystem

/// The common input of the serializers: whether a body may be empty, and how its bytes are preprocessed.
public struct SerializerInput {
    /// The largest body that is serialized, 16 MiB: it is held in memory as a whole. Download larger ones to files.
    public static let maximumBytes = 16_777_216

    /// When a body may be empty.
    public var emptyResponse: EmptyResponseRule
    /// Preprocesses the bytes.
    public var preprocessor: any ResponsePreprocessor
    /// If set, the thread that parses a value also writes it as JSON, and one whose text is longer is
    /// ``SerializedValue/omitted``: for a program that sends values on in lines.
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

    /// Passes the preprocessed bytes of a body to the decoder and returns its value; `nil` stands for an empty body
    /// that is allowed. A preprocessor that removes all bytes does not make the body an empty one (RS-11). A thread
    /// decodes a large body, and any body with `isCostly`; the request keeps its state meanwhile, and may be cancelled.
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

    /// Converts the bytes of a body to a value; may run on any thread.
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
            // A tree of many values would be written, and freed, on the loop.
            return Handover(maximumTextBytes.map { limit in value.map { $0.written(atMost: limit) } } ?? value)
        }
        files.runAlways(for: files.shareOfRequest(request).computation, work) { completion($0.value) }
    }
}
