internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// Makes the handlers that ask a client: each reads its `{"callback": {"name", "deadline_ms", "on_failure"}}`, and its path is for refusals.
protocol CallbackParts {
    /// `callback.adapt` and `callback.retry`.
    func interceptor(_ json: JSON, path: String) throws(RPCError) -> any RequestInterceptor
    /// `callback.redirect`.
    func redirectDecider(_ json: JSON, path: String) throws(RPCError) -> any RedirectDecider
    /// `callback.validate`.
    func validator(_ json: JSON, path: String) throws(RPCError) -> any ResponseValidator
    /// `callback.serialize`.
    func serializer(_ json: JSON, path: String) throws(RPCError) -> any ResponseSerializer
    /// `callback.preprocess`.
    func preprocessor(_ json: JSON, path: String) throws(RPCError) -> any ResponsePreprocessor
    /// `callback.refresh`.
    func refresher(_ json: JSON, path: String) throws(RPCError) -> any CredentialRefresher
}
