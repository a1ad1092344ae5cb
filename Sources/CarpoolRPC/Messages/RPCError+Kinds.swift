public import CarpoolJSON

// One constructor for each kind, so that every error has the members that its kind documents. The messages of the
// first three are those that JSON-RPC 2.0 §7 prints; what is wrong in particular is in `detail`.
extension RPCError {
    /// The message is not JSON.
    public static func parseError(_ reason: String) -> RPCError {
        RPCError(.parseError, "Parse error").with("detail", reason)
    }

    /// The message is not JSON; the detail has the position.
    public static func parseError(_ error: JSONError) -> RPCError { parseError(error.description) }

    /// The message is not a request.
    public static func invalidRequest(_ reason: String) -> RPCError {
        RPCError(.invalidRequest, "Invalid Request").with("detail", reason)
    }

    /// The message is nested too deep.
    static func tooDeep(_ limit: Int) -> RPCError { invalidRequest("nested deeper than \(limit) levels") }

    /// The id belongs to a running call.
    public static func duplicateID(_ id: RPCID) -> RPCError {
        RPCError(.duplicateID, "Invalid Request").with("detail", "a call with the id \(id) is running")
    }

    /// No method has this name.
    public static func methodNotFound(_ name: String, didYouMean: String? = nil) -> RPCError {
        RPCError(.methodNotFound, "Method not found").with("detail", "no such method: \(shortened(name))")
            .suggesting(didYouMean)
    }

    /// Returns the error with the nearest known name, which replaces the hint.
    private func suggesting(_ name: String?) -> RPCError {
        guard let name else { return self }
        var error = with("did_you_mean", name)
        error.hint = "Did you mean \(name)?"
        return error
    }

    /// A parameter is invalid.
    public static func invalidParams(
        path: String, message: String, expected: String? = nil, didYouMean: String? = nil
    ) -> RPCError {
        var error = RPCError(.invalidParams, "Invalid params: \(path): \(message)").with("path", path)
            .with("expected", expected)
        // Clients show message and hint. Long lists are for programs.
        if let expected, expected.utf8.count <= maximumHint, !message.contains(expected) {
            error.hint = "Expected: \(expected)."
        }
        return error.suggesting(didYouMean)
    }

    private static var maximumHint: Int { 200 }

    /// A parameter does not match its schema.
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

    /// The client and the daemon have no protocol version in common.
    public static func versionNotSupported(asked: [Int], supported: [Int]) -> RPCError {
        RPCError(
            .versionNotSupported, "no common protocol version: the client supports \(asked), the daemon \(supported)"
        )
        .with("supported", .integers(supported))
    }

    /// The daemon lacks a required capability.
    public static func capabilityMissing(_ missing: [String]) -> RPCError {
        RPCError(.capabilityMissing, "the daemon does not support: \(missing.map(shortened).joined(separator: ", "))")
            .with("missing", .strings(missing.map(shortened)))
    }

    /// The message is larger than the limit.
    public static func messageTooLarge(limitBytes: Int) -> RPCError {
        RPCError(.messageTooLarge, "the message has more than \(limitBytes) bytes (limits.message_bytes)")
            .with("limit_bytes", .integer(limitBytes))
    }

    /// A limit of calls, subscriptions, streams or descriptors is reached.
    public static func tooManyInFlight(_ what: String, limit: Int) -> RPCError {
        RPCError(.tooManyInFlight, "the connection has reached its limit of \(limit) \(what)")
            .with("limit", .integer(limit))
    }

    /// The answers of incomplete batches have reached their limit of memory.
    public static func answersTooLarge(limitBytes: Int) -> RPCError {
        RPCError(.answersTooLarge, "the answers of incomplete batches have reached \(limitBytes) bytes").with(
            "limit_bytes", .integer(limitBytes))
    }

    /// An incomplete message is dropped, as all incomplete messages have reached their limit of memory.
    public static func memoryFull(limitBytes: Int) -> RPCError {
        RPCError(.memoryFull, "the incomplete messages of all clients have reached \(limitBytes) bytes").with(
            "limit_bytes", .integer(limitBytes))
    }

    /// The caller's role does not permit the call.
    public static func forbidden(_ message: String, hint: String) -> RPCError {
        var error = forbidden(message)
        error.hint = hint
        return error
    }

    /// The caller's role does not permit the call; the owner of the daemon can give it another one.
    public static func forbidden(_ message: String, requiredRole: String? = nil) -> RPCError {
        RPCError(.forbidden, message).with("required_role", requiredRole)
    }

    /// The method needs another role.
    public static func forbidden(method: String, role: String) -> RPCError {
        forbidden("\(method) needs the role \(role)", requiredRole: role)
    }

    /// The daemon is shutting down.
    public static let draining = RPCError(.draining, "the daemon is draining")

    /// No request has this name.
    public static func requestNotFound(_ request: String) -> RPCError {
        RPCError(.requestNotFound, "no such request: \(shortened(request))").with("request", shortened(request))
    }

    /// The request's state does not permit the call.
    public static func wrongState(request: String, state: String, expected: String) -> RPCError {
        RPCError(.wrongState, "request \(request) is \(state); expected \(expected)").with("state", state)
            .with("expected", expected).with("request", request)
    }

    /// The session's state does not permit the call.
    public static func wrongState(session: String, state: String, expected: String) -> RPCError {
        RPCError(.wrongState, "session \(session) is \(state); expected \(expected)").with("state", state)
            .with("expected", expected).with("session", session)
    }

    /// The cursor is older than the journal.
    public static func cursorExpired(_ cursor: String) -> RPCError {
        RPCError(.cursorExpired, "the journal no longer has the events after \(shortened(cursor))").with(
            "cursor", shortened(cursor))
    }

    /// The idempotency key belongs to a request with other parameters.
    public static func keyConflict(key: String, request: String) -> RPCError {
        RPCError(.keyConflict, "the key belongs to \(request), which has other parameters").with("key", key)
            .with("request", request)
    }

    /// A session with this name exists, with another configuration.
    public static func sessionExists(_ session: String) -> RPCError {
        RPCError(.sessionExists, "session \(session) exists with another configuration").with("session", session)
    }

    /// The call that this one follows has not succeeded.
    public static var requestSkipped: RPCError {
        RPCError(.requestSkipped, "the call that this one follows has not succeeded")
    }

    /// The body is no longer stored.
    public static func bodyGone(request: String) -> RPCError {
        RPCError(.bodyGone, "the body of \(request) is no longer stored").with("request", request)
    }

    /// No session has this name.
    public static func sessionNotFound(_ session: String, didYouMean: String? = nil) -> RPCError {
        RPCError(.sessionNotFound, "no such session: \(shortened(session))").with("session", shortened(session))
            .suggesting(didYouMean)
    }

    /// No store has this name.
    public static func cacheUnavailable(store: String) -> RPCError {
        RPCError(.cacheUnavailable, "no such store: \(shortened(store))").with("store", shortened(store))
    }

    /// The session has no store.
    public static func cacheUnavailable(session: String) -> RPCError {
        RPCError(.cacheUnavailable, "session \(session) has no cache").with("session", session)
    }

    /// The configuration turns all caches off.
    public static func cacheIsOff(session: String) -> RPCError {
        RPCError(.cacheUnavailable, "the configuration file turns all caches off (\"cache\": \"no_store\")")
            .with("session", session)
    }

    /// No client has this name.
    public static func clientNotFound(_ client: String) -> RPCError {
        RPCError(.clientNotFound, "no such client: \(shortened(client))").with("client", shortened(client))
    }

    /// No stream has this name.
    public static func streamNotFound(_ stream: String) -> RPCError {
        RPCError(.streamNotFound, "no such stream: \(shortened(stream))").with("stream", shortened(stream))
    }

    /// A stream could not connect, or its connection has failed.
    public static func streamFailed(_ error: String, message: String, curlCode: Int?, errno: Int?) -> RPCError {
        RPCError(.streamFailed, shortened(message)).with("error", error)
            .with("curl_code", curlCode.map(Value.integer)).with("errno", errno.map(Value.integer))
    }

    /// The stream's state does not permit the call.
    public static func wrongState(stream: String, state: String, expected: String) -> RPCError {
        RPCError(.wrongState, "stream \(stream) is \(state); expected \(expected)").with("state", state)
            .with("expected", expected)
    }

    /// The configuration file is invalid.
    public static func configurationRefused(_ reason: String) -> RPCError { RPCError(.configurationRefused, reason) }

    /// The stored bodies have reached their limit.
    public static func spoolFull(limitBytes: Int) -> RPCError {
        RPCError(.spoolFull, "the stored bodies have reached \(limitBytes) bytes")
            .with("limit_bytes", .integer(limitBytes))
    }

    /// Too many calls wait.
    public static func rateLimited(retryAfterMilliseconds: Int) -> RPCError {
        RPCError(.rateLimited, "too many calls; retry after \(retryAfterMilliseconds) ms")
            .with("retry_after_ms", .integer(retryAfterMilliseconds))
    }

    /// A file cannot be opened.
    public static func cannotOpen(path: String, errno: Int, reason: String? = nil) -> RPCError {
        RPCError(.fileCannotOpen, "cannot open \(shortened(path)): \(reason ?? "errno \(errno)")")
            .with("path", path).with("errno", .integer(errno))
    }

    /// The daemon or the machine is short of a resource.
    public static func resourceUnavailable(errno: Int, explanation: String, remedy: String) -> RPCError {
        var error = RPCError(.resourceUnavailable, explanation).with("errno", .integer(errno))
        error.hint = remedy
        return error
    }

    /// The caller of a file's path is not the daemon's user.
    public static func notOwner(path: String) -> RPCError {
        RPCError(.fileNotOwner, "the daemon opens \(shortened(path)) only for its own user").with("path", path)
    }

    /// The caller of a file's path sees other files than the daemon.
    public static func otherView(path: String, differs: String) -> RPCError {
        RPCError(
            .fileOtherView, "the daemon does not open \(shortened(path)) for this client, which differs in: \(differs)"
        )
        .with("path", path).with("differs", differs)
    }

    /// The beginning of a text from a client, which may be as long as a whole message.
    private static func shortened(_ text: String) -> String {
        let shown = 128
        return text.utf8.count <= shown ? text : String(text.prefix(shown)) + "..."
    }
}
