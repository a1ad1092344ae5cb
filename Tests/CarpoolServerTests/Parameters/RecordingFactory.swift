import CarpoolHTTP
import CarpoolJSON
import CarpoolRPC
@testable import CarpoolServer
import CarpoolSession

/// Records the callbacks that the parameters name, and their paths in the parameters.
final class RecordingFactory: CallbackFactory {
    /// `kind name path` of each, in order.
    private(set) var asked: [String] = []

    private func note(_ kind: String, _ json: JSON, _ path: String) {
        asked.append("\(kind) \(json["name"]?.string ?? "") \(path)")
    }

    func validator(_ json: JSON, path: String) throws(RPCError) -> any ResponseValidator {
        note("validate", json, path)
        return ClosureValidator(name: "callback") { _, _ in }
    }

    func serializer(_ json: JSON, path: String) throws(RPCError) -> any ResponseSerializer {
        note("serialize", json, path)
        return ClosureSerializer(name: "callback") { _, _ in .none }
    }

    func preprocessor(_ json: JSON, path: String) throws(RPCError) -> any ResponsePreprocessor {
        note("preprocess", json, path)
        return PassthroughPreprocessor()
    }

    func uploadable(_ json: JSON, mayOpenFiles: Bool, path: String) throws(RPCError) -> any Uploadable {
        throw .cancelled
    }
    func interceptor(_ json: JSON, path: String) throws(RPCError) -> any RequestInterceptor { throw .cancelled }
    func destinationDecider(
        _ json: JSON, options: DownloadOptions, path: String
    ) throws(RPCError) -> any DestinationDecider {
        throw .cancelled
    }
    func redirectDecider(_ json: JSON, path: String) throws(RPCError) -> any RedirectDecider { throw .cancelled }
    func cachedResponseDecider(_ json: JSON, path: String) throws(RPCError) -> any CachedResponseDecider {
        throw .cancelled
    }
    func trustEvaluator(_ json: JSON, path: String) throws(RPCError) -> ServerTrustEvaluator { throw .cancelled }
    func challengeDecider(_ json: JSON, path: String) throws(RPCError) -> ChallengeDecider { throw .cancelled }
    func refresher(_ json: JSON, path: String) throws(RPCError) -> any CredentialRefresher { throw .cancelled }
}
