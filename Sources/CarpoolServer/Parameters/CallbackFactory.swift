internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// Makes the handlers that ask a client. Each reads what stands under the member `callback`, `{"name", "deadline_ms",
/// "on_failure"}`, which has passed its schema; the path is that of this object, for refusals.
protocol CallbackFactory {
    /// `callback.adapt` and `callback.retry`.
    func interceptor(_ json: JSON, path: String) throws(RPCError) -> any RequestInterceptor
    /// `callback.redirect`.
    func redirectDecider(_ json: JSON, path: String) throws(RPCError) -> any RedirectDecider
    /// `callback.validate`.
    func validator(_ json: JSON, path: String) throws(RPCError) -> any ResponseValidator
    /// `callback.serialize`.
    func serializer(_ json: JSON, path: String) throws(RPCError) -> any ResponseSerializer
    /// `callback.body`; the client may name files only if it may have them opened.
    func uploadable(_ json: JSON, mayOpenFiles: Bool, path: String) throws(RPCError) -> any Uploadable
    /// `callback.preprocess`.
    func preprocessor(_ json: JSON, path: String) throws(RPCError) -> any ResponsePreprocessor
    /// `callback.destination`; the options are those that the client's answer may change.
    func destinationDecider(
        _ json: JSON, options: DownloadOptions, path: String
    ) throws(RPCError) -> any DestinationDecider
    /// `callback.trust`.
    func trustEvaluator(_ json: JSON, path: String) throws(RPCError) -> ServerTrustEvaluator
    /// `callback.authenticate`.
    func challengeDecider(_ json: JSON, path: String) throws(RPCError) -> ChallengeDecider
    /// `callback.cache`.
    func cachedResponseDecider(_ json: JSON, path: String) throws(RPCError) -> any CachedResponseDecider
    /// `callback.refresh`.
    func refresher(_ json: JSON, path: String) throws(RPCError) -> any CredentialRefresher
}
