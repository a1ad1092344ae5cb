internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// Asks a client for the destination of a download (DL-04).
final class CallbackDestinationDecider: DestinationDecider {
    private let callback: CallbackEndpoint
    private let options: DownloadOptions

    init(_ callback: CallbackEndpoint, options: DownloadOptions) {
        self.callback = callback
        self.options = options
    }

    func destination(
        of request: Request, for response: ResponseHead, suggestedName: String,
        completion: @escaping (Result<DecidedDestination, SessionError>) -> Void
    ) {
        let (callback, options, url) = (callback, options, request.url)
        let record = callback.broker.record
        callback.ask("callback.destination", about: request) { writer, detail in
            writer.key("response")
            record.write(response, url: url, detail.head, to: &writer)
            writer.member("suggested_name", suggestedName)
        } read: { (answer) throws(JSONError) -> Result<DecidedDestination, SessionError> in
            if let refusal = callback.refusal(in: answer) { return .failure(refusal) }
            guard let path = answer["path"]?.string else { return .success(.spool) }
            do throws(RPCError) {
                try AbsolutePath.check(path, at: "result.path")
                try callback.broker.answererAccess.check(path)
            } catch {
                throw JSONError(.schema, error.message)
            }
            return .success(.file(path, DestinationReader.options(answer, options)))
        } completion: { [self] result in
            switch result {
            case .success(.success(.file(let path, let options))): look(at: path, options, request, completion)
            case .success(let destination): completion(destination)
            case .failure where callback.specification.fallback == .spool: completion(.success(.spool))
            case .failure(let error): completion(.failure(error))
            }
        }
    }

    /// Resolves the path that the client has named, in the background.
    private func look(
        at path: String, _ options: DownloadOptions, _ request: Request,
        _ completion: @escaping (Result<DecidedDestination, SessionError>) -> Void
    ) {
        let specification = callback.specification
        let work: @Sendable () -> Result<String, RPCError> = {
            Result { () throws(RPCError) in try DestinationPlace.file(path, at: "result.path") }
        }
        request.inBackground(work) { result in
            switch result {
            case .success(let place): completion(.success(.file(place, options)))
            case .failure where specification.fallback == .spool: completion(.success(.spool))
            case .failure(let error):
                completion(.failure(.callbackFailed(specification.name, .invalidAnswer, message: error.message)))
            }
        }
    }
}
