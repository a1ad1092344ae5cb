internal import CarpoolJSON
internal import CarpoolSession

/// Asks a client to validate responses (VA-07).
final class CallbackValidator: ResponseValidator {
    let name = "callback"
    private let callback: CallbackEndpoint

    init(_ callback: CallbackEndpoint) { self.callback = callback }

    func validate(_ request: Request, completion: @escaping (SessionError?) -> Void) {
        let specification = callback.specification
        callback.askAboutResponse("callback.validate", of: request) {
            (answer) throws(JSONError) -> SessionError? in
            guard answer["valid"]?.bool != true else { return nil }
            let message = answer["message"]?.string ?? "it is not valid"
            return .customValidationFailed(.clientRefused(specification.name, message: message))
        } completion: { result in
            switch result {
            case .success(let refusal): completion(refusal)
            case .failure(let error): completion(specification.fallback == .pass ? nil : error)
            }
        }
    }
}
