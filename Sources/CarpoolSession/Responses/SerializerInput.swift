/// What the serializers have in common: whether a body may be empty, and what is done to its bytes before they are read.
public struct SerializerInput {
    /// The largest body that becomes a value, 16 MiB: a JSON text of that size holds the loop for about 100 ms. Larger ones are for files.
    public static let maximumBytes = 16_777_216

    /// When a body may be empty.
    public var emptyResponse: EmptyResponseRule
    /// What changes the bytes first.
    public var preprocessor: any ResponsePreprocessor

    /// Makes an input with the defaults of the session model.
    public init(
        emptyResponse: EmptyResponseRule = EmptyResponseRule(),
        preprocessor: any ResponsePreprocessor = PassthroughPreprocessor()
    ) {
        self.emptyResponse = emptyResponse
        self.preprocessor = preprocessor
    }

    /// Hands the bytes of a body on, preprocessed, and gives what is made of them; `nil` stands for an empty body that is allowed. A
    /// preprocessor that leaves nothing does not make the body an empty one (RS-11).
    func serialize(
        _ request: Request, completion: @escaping (Result<SerializedValue, SessionError>) -> Void,
        by decode: @escaping ([UInt8]?) throws(SessionError) -> SerializedValue
    ) {
        func finish(_ bytes: [UInt8]?) {
            do throws(SessionError) { completion(.success(try decode(bytes))) } catch { completion(.failure(error)) }
        }
        guard request.body.count > 0 else {
            return emptyResponse.allows(request) ? finish(nil) : completion(.failure(.inputDataNilOrZeroLength))
        }
        request.body.bytes(atMost: SerializerInput.maximumBytes) { [preprocessor] read in
            switch read {
            case .failure(let error): completion(.failure(error))
            case .success(let bytes):
                preprocessor.preprocess(bytes, of: request) { result in
                    switch result {
                    case .success(let bytes): finish(bytes)
                    case .failure(let error): completion(.failure(error))
                    }
                }
            }
        }
    }
}
