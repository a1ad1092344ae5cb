internal import CarpoolHTTP

/// Accepts responses of the types that the request's own `Accept` asked for (VA-02).
///
/// Weights are ignored, as every other parameter is: `text/html;q=0` accepts HTML. A request without the field accepts
/// anything.
public struct AcceptHeaderValidator: ResponseValidator {
    /// Makes the validator; it has no options.
    public init() {}

    /// `content_type`
    public var name: String { "content_type" }

    /// It looks at the head alone.
    public var needsHeadAlone: Bool { true }

    /// Fails as ``ContentTypeValidator`` does.
    public func validate(_ request: Request, completion: @escaping (SessionError?) -> Void) {
        guard let accept = request.sentValue(of: "Accept") else { return completion(nil) }
        let types = accept.split(separator: ",").map { String($0.drop { $0 == " " || $0 == "\t" }) }
        ContentTypeValidator(types).validate(request, completion: completion)
    }
}
