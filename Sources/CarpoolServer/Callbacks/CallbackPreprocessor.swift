internal import CarpoolJSON
internal import CarpoolSession

/// Asks a client to change the bytes of a body before a serializer reads them (RS-09).
final class CallbackPreprocessor: ResponsePreprocessor {
    private let callback: CallbackEndpoint

    init(_ callback: CallbackEndpoint) { self.callback = callback }

    func preprocess(
        _ body: [UInt8], of request: Request, completion: @escaping (Result<[UInt8], SessionError>) -> Void
    ) {
        let callback = callback
        callback.ask("callback.preprocess", about: request) { writer, detail in
            writer.key("body")
            CallbackBody.write(body, atMost: detail.bodyBytes, to: &writer)
        } read: { (answer) throws(JSONError) -> Result<[UInt8], SessionError> in
            if let refusal = callback.refusal(in: answer) { return .failure(.customSerializationFailed(refusal)) }
            if let text = answer["text"]?.withUTF8({ Array($0) }) { return .success(text) }
            return .success(try answer["base64"].map(CallbackPreprocessor.decode) ?? [])
        } completion: { result in
            switch result {
            case .success(let bytes): completion(bytes)
            case .failure where callback.specification.fallback == .none: completion(.success(body))
            case .failure(let error): completion(.failure(error))
            }
        }
    }

    private static func decode(_ json: JSON) throws(JSONError) -> [UInt8] {
        try Base64Text.decode(json, path: "result.base64")
    }
}
