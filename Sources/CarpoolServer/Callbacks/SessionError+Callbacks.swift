internal import CarpoolSession

// Failures of callbacks and clients.
extension SessionError {
    /// Maximum length of a client's message: a record may contain several.
    private static let messageBytes = 1_024

    /// A callback failed. Details: `callback`, `reason`, the client's `message` if it has answered with an error, and
    /// the limit if one was reached.
    static func callbackFailed(
        _ name: String, _ reason: CallbackFailure, message: String? = nil, limit: CallbackTable.ReachedLimit? = nil
    ) -> SessionError {
        let message = message.map { TruncatedText.of($0, bytes: messageBytes) }
        var details = [Detail("callback", .string(name)), Detail("reason", .string(reason.rawValue))]
        if let message, reason == .error { details.append(Detail("message", .string(message))) }
        if let limit {
            details.append(Detail("limit_name", .string(limit.name)))
            details.append(Detail("limit", .integer(limit.value)))
            if let holder = limit.holder { details.append(Detail("holder", .string(holder.rawValue))) }
        }
        let words = "the callback \(name) \(description(of: reason))\(message.map { ": \($0)" } ?? "")"
        return SessionError("callback_failed", words, hint: hint(for: reason, limit), details: details)
    }

    /// A client's answer to a callback fails the request.
    static func clientRefused(_ name: String, message: String) -> SessionError {
        SessionError(
            "client_refused", TruncatedText.of(message, bytes: messageBytes),
            details: [Detail("callback", .string(name))]
        )
    }

    /// A client has refused what it has read of a stream.
    static func clientRefused(_ message: String) -> SessionError {
        SessionError("client_refused", TruncatedText.of(message, bytes: messageBytes))
    }

    private static func description(of reason: CallbackFailure) -> String {
        switch reason {
        case .noResponder: "has no client to answer it"
        case .timedOut: "was not answered in time"
        case .disconnected: "failed because the client disconnected"
        case .error: "got an error as its answer"
        case .invalidAnswer: "got an answer that does not match its schema"
        case .tooMany: "exceeds the limit of open questions"
        }
    }

    private static func hint(for reason: CallbackFailure, _ limit: CallbackTable.ReachedLimit?) -> String? {
        switch reason {
        case .noResponder:
            "keep the calling connection open both ways, or give the name to client.hello on one that stays"
        case .timedOut: "raise deadline_ms, or answer sooner"
        case .disconnected, .error: nil
        case .invalidAnswer: "see the page of this callback for the answers that it may have"
        case .tooMany:
            "answer sooner, run fewer requests at a time, or raise limits.\(limit?.name ?? "callbacks_per_connection")"
        }
    }
}
