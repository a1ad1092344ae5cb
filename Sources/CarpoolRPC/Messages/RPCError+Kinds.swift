public import CarpoolJSON

// One constructor for each kind, so that no error goes without the members that its kind documents. The messages of the
// first three are those that JSON-RPC 2.0 §7 prints; what is wrong in particular is in `detail`.
extension RPCError {
    /// The message is not JSON.
    public static func parseError(_ reason: String) -> RPCError {
        RPCError(.parseError, "Parse error").with("detail", reason)
    }

    /// The message is not JSON; says where.
    public static func parseError(_ error: JSONError) -> RPCError { parseError(error.description) }

    /// The message is no request.
    public static func invalidRequest(_ reason: String) -> RPCError {
        RPCError(.invalidRequest, "Invalid Request").with("detail", reason)
    }

    /// The message is nested too deep.
    static func tooDeep(_ limit: Int) -> RPCError { invalidRequest("nested deeper than \(limit) levels") }

    /// The id is in use.
    public static func duplicateID(_ id: RPCID) -> RPCError {
        RPCError(.duplicateID, "Invalid Request").with("detail", "a call with the id \(id) is under way")
    }

    /// There is no such method.
    public static func methodNotFound(_ name: String, didYouMean: String? = nil) -> RPCError {
        RPCError(.methodNotFound, "Method not found").with("detail", "no such method: \(shortened(name))")
            .suggesting(didYouMean)
    }

    /// The same error with the nearest known name, which is then the best hint too.
    private func suggesting(_ name: String?) -> RPCError {
        guard let name else { return self }
        var error = with("did_you_mean", name)
        error.hint = "Did you mean \(name)?"
        return error
    }

    /// A parameter is wrong.
    public static func invalidParams(
        path: String, message: String, expected: String? = nil, didYouMean: String? = nil
    ) -> RPCError {
        RPCError(.invalidParams, "Invalid params: \(path): \(message)").with("path", path).with("expected", expected)
            .suggesting(didYouMean)
    }

    /// A parameter is wrong, as its schema says.
    public static func invalidParams(_ error: JSONError) -> RPCError {
        invalidParams(
            path: error.path ?? "params", message: error.message, expected: error.expected,
            didYouMean: error.didYouMean)
    }

    /// The daemon failed.
    public static func internalError(_ message: String) -> RPCError {
        RPCError(.internalError, "Internal error: \(message)")
    }

    /// The call was cancelled.
    public static let cancelled = RPCError(.cancelled, "the call was cancelled")

    /// No version in common.
    public static func versionNotSupported(asked: [Int], supported: [Int]) -> RPCError {
        RPCError(.versionNotSupported, "the client speaks \(asked), the daemon \(supported)")
            .with("supported", .integers(supported))
    }

    /// A required capability is not there.
    public static func capabilityMissing(_ missing: [String]) -> RPCError {
        RPCError(.capabilityMissing, "not there: \(missing.map(shortened).joined(separator: ", "))")
            .with("missing", .strings(missing.map(shortened)))
    }

    /// A message over the limit.
    public static func messageTooLarge(limitBytes: Int) -> RPCError {
        RPCError(.messageTooLarge, "the message has more than \(limitBytes) bytes")
            .with("limit_bytes", .integer(limitBytes))
    }

    /// Too many calls or subscriptions.
    public static func tooManyInFlight(limit: Int) -> RPCError {
        RPCError(.tooManyInFlight, "the connection has \(limit) under way, as many as it may").with(
            "limit", .integer(limit))
    }

    /// The answers of a batch take too much memory for more of them.
    public static func answersTooLarge(limitBytes: Int) -> RPCError {
        RPCError(.answersTooLarge, "answers of batches that are not complete have reached \(limitBytes) bytes").with(
            "limit_bytes", .integer(limitBytes))
    }

    /// A message that has not come whole is given up.
    public static func memoryFull(limitBytes: Int) -> RPCError {
        RPCError(.memoryFull, "half messages of all clients have reached \(limitBytes) bytes").with(
            "limit_bytes", .integer(limitBytes))
    }

    /// The caller may not.
    public static func forbidden(_ message: String, hint: String) -> RPCError {
        var error = forbidden(message)
        error.hint = hint
        return error
    }

    /// The caller may not; the owner can give it a role.
    public static func forbidden(_ message: String, requiredRole: String? = nil) -> RPCError {
        RPCError(.forbidden, message).with("required_role", requiredRole)
    }

    /// The method needs another role.
    public static func forbidden(method: String, role: String) -> RPCError {
        forbidden("\(method) needs the role \(role)", requiredRole: role)
    }

    /// The daemon is about to end.
    public static let draining = RPCError(.draining, "the daemon is draining")

    /// No such request.
    public static func requestNotFound(_ request: String) -> RPCError {
        RPCError(.requestNotFound, "no such request: \(shortened(request))").with("request", shortened(request))
    }

    /// A request in another state.
    public static func wrongState(request: String, state: String, expected: String) -> RPCError {
        RPCError(.wrongState, "request \(request) is \(state); expected \(expected)").with("state", state)
            .with("expected", expected).with("request", request)
    }

    /// A session in another state.
    public static func wrongState(session: String, state: String, expected: String) -> RPCError {
        RPCError(.wrongState, "session \(session) is \(state); expected \(expected)").with("state", state)
            .with("expected", expected).with("session", session)
    }

    /// The cursor is too old.
    public static func cursorExpired(_ cursor: String) -> RPCError {
        RPCError(.cursorExpired, "no events are kept from \(shortened(cursor))").with("cursor", shortened(cursor))
    }

    /// The key stands for another request.
    public static func keyConflict(key: String, request: String) -> RPCError {
        RPCError(.keyConflict, "the key stands for \(request), which has other parameters").with("key", key)
            .with("request", request)
    }

    /// The name is taken.
    public static func sessionExists(_ session: String) -> RPCError {
        RPCError(.sessionExists, "session \(session) exists with another configuration").with("session", session)
    }

    /// The body is not kept.
    public static func bodyGone(request: String) -> RPCError {
        RPCError(.bodyGone, "the body of \(request) is gone").with("request", request)
    }

    /// No such session.
    public static func sessionNotFound(_ session: String, didYouMean: String? = nil) -> RPCError {
        RPCError(.sessionNotFound, "no such session: \(shortened(session))").with("session", shortened(session))
            .with("did_you_mean", didYouMean)
    }

    /// No such client.
    public static func clientNotFound(_ client: String) -> RPCError {
        RPCError(.clientNotFound, "no such client: \(shortened(client))").with("client", shortened(client))
    }

    /// No such stream.
    public static func streamNotFound(_ stream: String) -> RPCError {
        RPCError(.streamNotFound, "no such stream: \(shortened(stream))").with("stream", shortened(stream))
    }

    /// A stream that is not, or not any more.
    public static func streamFailed(_ error: String, message: String, curlCode: Int?, errno: Int?) -> RPCError {
        RPCError(.streamFailed, shortened(message)).with("error", error)
            .with("curl_code", curlCode.map(Value.integer)).with("errno", errno.map(Value.integer))
    }

    /// A stream in another state.
    public static func wrongState(stream: String, state: String, expected: String) -> RPCError {
        RPCError(.wrongState, "stream \(stream) is \(state); expected \(expected)").with("state", state)
            .with("expected", expected)
    }

    /// A configuration file that cannot be used.
    public static func configurationRefused(_ reason: String) -> RPCError { RPCError(.configurationRefused, reason) }

    /// No room for bodies.
    public static func spoolFull(limitBytes: Int) -> RPCError {
        RPCError(.spoolFull, "the bodies that are kept take \(limitBytes) bytes, as many as they may")
            .with("limit_bytes", .integer(limitBytes))
    }

    /// Too many calls in a time.
    public static func rateLimited(retryAfterMilliseconds: Int) -> RPCError {
        RPCError(.rateLimited, "too many calls; wait \(retryAfterMilliseconds) ms")
            .with("retry_after_ms", .integer(retryAfterMilliseconds))
    }

    /// A file cannot be opened.
    public static func cannotOpen(path: String, errno: Int, reason: String? = nil) -> RPCError {
        RPCError(.fileCannotOpen, "cannot open \(shortened(path)): \(reason ?? "errno \(errno)")")
            .with("path", path).with("errno", .integer(errno))
    }

    /// A file of a caller that is not the daemon's user.
    public static func notOwner(path: String) -> RPCError {
        RPCError(.fileNotOwner, "the daemon opens \(shortened(path)) only for its own user").with("path", path)
    }

    /// A file of a caller that sees other files.
    public static func otherView(path: String, differs: String) -> RPCError {
        RPCError(
            .fileOtherView, "the daemon does not open \(shortened(path)) for this client, which differs in: \(differs)"
        )
        .with("path", path).with("differs", differs)
    }

    /// A text from outside may be as long as the message that it came in; an answer shows its beginning.
    private static func shortened(_ text: String) -> String {
        let shown = 128
        return text.utf8.count <= shown ? text : String(text.prefix(shown)) + "..."
    }
}
