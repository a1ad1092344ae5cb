internal import CarpoolJSON
internal import CarpoolSession

/// Asks a client to serialize a response (RS-10).
final class CallbackSerializer: ResponseSerializer {
    let name = "callback"
    let isTyped = true
    private let callback: CallbackEndpoint

    init(_ callback: CallbackEndpoint) { self.callback = callback }

    func serialize(_ request: Request, completion: @escaping (Result<SerializedValue, SessionError>) -> Void) {
        let callback = callback
        callback.askAboutResponse("callback.serialize", of: request) {
            (answer) throws(JSONError) -> Result<SerializedValue, SessionError> in
            if let refusal = callback.refusal(in: answer) { return .failure(.customSerializationFailed(refusal)) }
            // As text: a tree would retain the whole answer as long as the request.
            return .success(answer["value"].map { .jsonText(JSONText($0)) } ?? .none)
        } completion: { result in
            switch result {
            case .success(let value): completion(value)
            case .failure where callback.specification.fallback == .none: completion(.success(.none))
            case .failure(let error): completion(.failure(error))
            }
        }
    }
}
