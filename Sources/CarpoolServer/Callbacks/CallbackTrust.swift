internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession

/// Asks a client whether a server is trusted (TR-11). Without an answer it is not.
///
/// `@unchecked Sendable` because it is only used on the loop, where the engine calls its evaluators.
struct CallbackTrust: @unchecked Sendable {
    private let callback: CallbackEndpoint

    init(_ callback: CallbackEndpoint) { self.callback = callback }

    /// The most bytes of certificates in a question, in base64: those of most chains, in half of a line.
    private static let certificateBytes = 32_768

    /// The evaluator.
    /// - Parameter identity: what connections of requests with the same evaluator have in common.
    func evaluator(identity: String) -> ServerTrustEvaluator {
        .custom(CustomTrust(identity: identity) { question, completion in ask(question, completion) })
    }

    private func ask(_ question: CustomTrust.Question, _ completion: @escaping (CustomTrust.TrustAnswer) -> Void) {
        callback.ask("callback.trust") { writer, _ in
            CallbackTrust.write(question, to: &writer)
        } read: { (answer) throws(JSONError) -> CustomTrust.TrustAnswer in
            if answer["trusted"]?.bool == true { return .accept }
            return .refuse(answer["message"]?.string ?? "the client does not trust the server")
        } completion: { result in
            switch result {
            case .success(let answer): completion(answer)
            case .failure(let error): completion(.refuse(error.message))
            }
        }
    }

    private static func write(_ question: CustomTrust.Question, to writer: inout JSONWriter) {
        writer.member("host", question.host)
        writer.member("port", Int(question.port))
        writer.key("certificates")
        writer.beginArray()
        let start = writer.count
        var isWhole = true
        for certificate in question.chain {
            guard writer.count - start + certificate.count * 4 / 3 <= certificateBytes else {
                isWhole = false
                break
            }
            certificate.withUnsafeBytes { writer.base64($0) }
        }
        writer.endArray()
        if !isWhole { writer.member("truncated", true) }
    }
}
