internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

/// Makes the callback handlers of one call. Those of a request ask the connection of the call first; those of a session
/// ask any connection of the user that has declared the name.
struct ClientCallbackFactory: CallbackFactory {
    let broker: CallbackBroker
    /// The connection of the call; `nil` for a session's callbacks, which outlive it.
    let origin: Int?
    /// The caller: only its user's connections are asked, and open questions are on its account.
    let client: ClientIdentity
    /// Opens the files that the client names in its answers.
    let worker: WorkerAccess

    func interceptor(_ json: JSON, path: String) throws(RPCError) -> any RequestInterceptor {
        CallbackInterceptor(try callback(json, .fail, path))
    }

    func redirectDecider(_ json: JSON, path: String) throws(RPCError) -> any RedirectDecider {
        CallbackRedirectDecider(try callback(json, .doNotFollow, path))
    }

    func validator(_ json: JSON, path: String) throws(RPCError) -> any ResponseValidator {
        CallbackValidator(try callback(json, .fail, path))
    }

    func serializer(_ json: JSON, path: String) throws(RPCError) -> any ResponseSerializer {
        CallbackSerializer(try callback(json, .fail, path))
    }

    func uploadable(_ json: JSON, mayOpenFiles: Bool, path: String) throws(RPCError) -> any Uploadable {
        CallbackUpload(try callback(json, .fail, path), mayOpenFiles: mayOpenFiles, worker: worker)
    }

    func preprocessor(_ json: JSON, path: String) throws(RPCError) -> any ResponsePreprocessor {
        CallbackPreprocessor(try callback(json, .fail, path))
    }

    func destinationDecider(
        _ json: JSON, options: DownloadOptions, path: String
    ) throws(RPCError) -> any DestinationDecider {
        CallbackDestinationDecider(try callback(json, .spool, path), options: options)
    }

    func refresher(_ json: JSON, path: String) throws(RPCError) -> any CredentialRefresher {
        CallbackRefresher(try callback(json, .fail, path))
    }

    func challengeDecider(_ json: JSON, path: String) throws(RPCError) -> ChallengeDecider {
        CallbackAuthenticator(try callback(json, .fail, path)).decider
    }

    func cachedResponseDecider(_ json: JSON, path: String) throws(RPCError) -> any CachedResponseDecider {
        CallbackCachedResponse(try callback(json, .doNotCache, path))
    }

    func trustEvaluator(_ json: JSON, path: String) throws(RPCError) -> ServerTrustEvaluator {
        let endpoint = try callback(json, .fail, path)
        // The same callback of the same user decides alike; that of a request is the function of one connection.
        let place = origin.map { " of connection \($0)" } ?? ""
        return CallbackTrust(endpoint).evaluator(identity: "\(client.uid) \(endpoint.specification.name)\(place)")
    }

    private func callback(
        _ json: JSON, _ standard: CallbackSpecification.Fallback, _ path: String
    ) throws(RPCError) -> CallbackEndpoint {
        let specification = try CallbackSpecification(json, standard: standard, path: path)
        return CallbackEndpoint(broker: broker, specification: specification, origin: origin, client: client)
    }
}
