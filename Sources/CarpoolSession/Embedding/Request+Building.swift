public import CarpoolHTTP

// What a request is told before it is sent, in the model's words. Each gives the request back, so that they can be chained.
extension Request {
    /// Has the response judged by its status, 200 to 299, and by what the request's `Accept` asks for (VA-02).
    @discardableResult public func validate() -> Self {
        validate(by: StatusValidator.successful).validate(by: AcceptHeaderValidator())
    }

    /// Has the response judged by its status (VA-03).
    @discardableResult public func validate(statusCode acceptable: ClosedRange<Int>) -> Self {
        validate(by: StatusValidator([acceptable]))
    }

    /// Has the response judged by its status (VA-03).
    @discardableResult public func validate(statusCode acceptable: some Sequence<Int>) -> Self {
        validate(by: StatusValidator(acceptable.map { $0...$0 }))
    }

    /// Has the response judged by the type of its body (VA-04).
    @discardableResult public func validate(contentType acceptable: [String]) -> Self {
        validate(by: ContentTypeValidator(acceptable))
    }

    /// Has the program judge the response: it throws what is wrong (VA-07).
    @discardableResult public func validate(_ body: @escaping (Request, ResponseHead) throws -> Void) -> Self {
        validate(by: ClosureValidator(body))
    }

    /// Adds a validator behind those that are there; the session's own count no more for this request.
    @discardableResult public func validate(by validator: any ResponseValidator) -> Self {
        parameters.validators = (parameters.validators ?? []) + [validator]
        return self
    }

    /// Adds adapters and retriers behind those that are there (RI-07).
    @discardableResult public func interceptor(_ interceptor: any RequestInterceptor) -> Self {
        parameters.interceptor = Interceptor(
            interceptors: [parameters.interceptor].compactMap(\.self) + [interceptor])
        return self
    }

    /// Says what happens on a redirect. The last word counts.
    @discardableResult public func redirect(using handler: RedirectHandler) -> Self {
        parameters.redirect = handler
        return self
    }

    /// The request that was made last as a command line for curl; `nil` while none has been made (CU-06). Secrets are masked unless `reveal` is
    /// true.
    public func cURLDescription(reveal: Bool = false) -> String? {
        urlRequest.map { made in
            CurlDescription.text(
                for: made, reveal: reveal, redirect: parameters.options.redirect.value)
        }
    }

    /// `METHOD URL (status)`, without a status before there is a response (RL-29).
    public var summary: String {
        guard let urlRequest else { return "No request created yet." }
        let status = response.map { " (\($0.status))" } ?? ""
        return "\(urlRequest.method.rawValue) \(urlRequest.url)\(status)"
    }
}
