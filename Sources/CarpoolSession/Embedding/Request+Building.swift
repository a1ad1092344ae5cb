public import CarpoolHTTP

// Settings of a request before it is sent, under the model's names. Each returns the request, so that they can be
// chained.
extension Request {
    /// Validates the status, 200 to 299, and the type against the request's `Accept` (VA-02).
    @discardableResult public func validate() -> Self {
        validate(by: StatusValidator.successful).validate(by: AcceptHeaderValidator())
    }

    /// Validates the status (VA-03).
    @discardableResult public func validate(statusCode acceptable: ClosedRange<Int>) -> Self {
        validate(by: StatusValidator([acceptable]))
    }

    /// Validates the status (VA-03).
    @discardableResult public func validate(statusCode acceptable: some Sequence<Int>) -> Self {
        validate(by: StatusValidator(acceptable.map { $0...$0 }))
    }

    /// Validates the type of the body (VA-04).
    @discardableResult public func validate(contentType acceptable: [String]) -> Self {
        validate(by: ContentTypeValidator(acceptable))
    }

    /// Validates the response by a closure that throws the failure (VA-07).
    @discardableResult public func validate(_ body: @escaping (Request, ResponseHead) throws -> Void) -> Self {
        validate(by: ClosureValidator(body))
    }

    /// Appends a validator; the session's own validators no longer apply to this request.
    @discardableResult public func validate(by validator: any ResponseValidator) -> Self {
        parameters.validators = (parameters.validators ?? []) + [validator]
        return self
    }

    /// Appends adapters and retriers (RI-07).
    @discardableResult public func interceptor(_ interceptor: any RequestInterceptor) -> Self {
        parameters.interceptor = Interceptor(
            interceptors: [parameters.interceptor].compactMap(\.self) + [interceptor])
        return self
    }

    /// Sets how redirects are handled. The last call wins.
    @discardableResult public func redirect(using handler: RedirectHandler) -> Self {
        parameters.redirect = handler
        return self
    }

    /// Sets what happens to a response that the session's cache is about to store (CH-04). The last call wins.
    @discardableResult public func cacheResponse(using handler: CachedResponseHandler) -> Self {
        var caching = parameters.caching ?? RequestCaching()
        caching.handler = handler
        parameters.caching = caching
        return self
    }

    /// Sets how the request uses stored responses of the session's cache.
    @discardableResult public func cachePolicy(_ policy: RequestCachePolicy) -> Self {
        var caching = parameters.caching ?? RequestCaching()
        caching.policy = policy
        parameters.caching = caching
        return self
    }

    /// The last request that was built, as a command line for curl; `nil` if none was built yet (CU-06). Secrets are
    /// masked unless `reveal` is true.
    public func cURLDescription(reveal: Bool = false) -> String? {
        urlRequest.map { made in
            CurlDescription.text(
                for: made, credential: parameters.credential(for: made.url.origin), cookies: sentCookies,
                reveal: reveal, revealsProxy: reveal, redirect: parameters.options.redirect.value)
        }
    }

    /// `METHOD URL (status)`, without a status before there is a response (RL-29).
    public var summary: String {
        guard let urlRequest else { return "No request created yet." }
        let status = response.map { " (\($0.status))" } ?? ""
        return "\(urlRequest.method.rawValue) \(urlRequest.url)\(status)"
    }
}
