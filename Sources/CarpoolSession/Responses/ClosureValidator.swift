public import CarpoolHTTP

/// A validator made of a program's closure (VA-07).
public struct ClosureValidator: ResponseValidator {
    /// Its name in events.
    public let name: String
    private let body: (Request, ResponseHead) throws -> Void

    /// Makes a validator of a closure that throws the failure: a `SessionError` as it is, any other inside
    /// `response_validation_failed.custom_validation_failed`.
    public init(name: String = "closure", _ body: @escaping (Request, ResponseHead) throws -> Void) {
        self.name = name
        self.body = body
    }

    /// Calls the closure, if there is a response.
    public func validate(_ request: Request, completion: @escaping (SessionError?) -> Void) {
        guard let response = request.response else { return completion(nil) }
        do {
            try body(request, response)
            completion(nil)
        } catch {
            completion(error as? SessionError ?? .customValidationFailed(SessionError(thrown: error)))
        }
    }
}
