public import CarpoolJSON

/// An error of the protocol. Errors, `rpc.discover` and the page of errors are made from this table.
public struct RPCErrorKind: Sendable {
    /// The number, for switch statements.
    public let code: Int
    /// The documented identity, `data.name`.
    public let name: StaticString
    /// Whether the same call may succeed if it is made again, unchanged, a little later.
    public let isRetryable: Bool
    /// When it occurs, in a sentence.
    public let summary: String
    /// The remedy, in a sentence.
    public let remedy: String
    /// The members of `data`, except `name`, `retryable` and `hint`.
    public let members: [JSONSchema.Member]

    init(
        _ code: Int, _ name: StaticString, isRetryable: Bool = false, _ summary: String, _ remedy: String,
        members: [JSONSchema.Member] = []
    ) {
        self.code = code
        self.name = name
        self.isRetryable = isRetryable
        self.summary = summary
        self.remedy = remedy
        self.members = members
    }
}

// JSON-RPC 2.0 §5.1 gives the codes from -32700 to -32600; -32800 is what the Language Server Protocol uses. -32000 to
// -32099 are used in many ways by many libraries, so the errors of this protocol are positive numbers.
extension RPCErrorKind {
    /// The specification fixes the messages of these errors, so that details are in a member of their own.
    private static let detail = JSONSchema.Member("detail", .string, "The details, for users.", required: true)

    /// The limit that was reached, of those that clients and users share.
    private static let quota: [JSONSchema.Member] = [
        .optional("limit_name", .string, "The limit's name in the configuration."),
        .optional(
            "holder", .choice("client", "user", "all"),
            "Who has reached the limit: the client, its user, or all users."),
    ]

    /// -32700
    public static let parseError = RPCErrorKind(
        -32700, "parse_error", "The message is not JSON, or is not UTF-8.",
        "Send one JSON text a line; the connection and its other calls continue.", members: [detail])
    /// -32600
    public static let invalidRequest = RPCErrorKind(
        -32600, "invalid_request",
        "The message is JSON, but not a JSON-RPC 2.0 request; or it has a repeated member, is nested too deep, or is an empty batch.",
        "Compare it with the JSON-RPC 2.0 specification; `jsonrpc` must be \"2.0\".", members: [detail])
    /// -32600 for an id that is in use.
    public static let duplicateID = RPCErrorKind(
        -32600, "duplicate_id", "A call with the same id is running on this connection.",
        "Use a different id for every call, such as a counter.", members: [detail])
    /// -32601
    public static let methodNotFound = RPCErrorKind(
        -32601, "method_not_found", "No method has this name.", "See rpc.discover for all methods.",
        members: [detail, .optional("did_you_mean", .string, "The nearest known name.")])
    /// -32602
    public static let invalidParams = RPCErrorKind(
        -32602, "invalid_params", "A parameter is unknown, missing or invalid. The call had no effect.",
        "Correct the member that `path` names.",
        members: [
            .required("path", .string, "The path of the parameter, like `params.body.file`."),
            .optional("expected", .string, "The values that are accepted."),
            .optional("did_you_mean", .string, "The nearest known name."),
        ])
    /// -32603
    public static let internalError = RPCErrorKind(
        -32603, "internal", "The daemon failed. This is a defect of the daemon.", "Report it with the daemon's log.")
    /// -32800
    public static let cancelled = RPCErrorKind(
        -32800, "cancelled", "The call was cancelled by rpc.cancel, or its connection was closed.",
        "No action is required; the HTTP request that the call waited for continues.")
    /// 1001
    public static let versionNotSupported = RPCErrorKind(
        1001, "version_not_supported", "The client and this daemon have no protocol version in common.",
        "Update the older of the two.",
        members: [.required("supported", .array(of: .integer), "The versions that the daemon supports.")])
    /// 1002
    public static let capabilityMissing = RPCErrorKind(
        1002, "capability_missing", "The client requires a capability that this daemon does not have.",
        "Update the daemon, or list the capability in `optional`.",
        members: [.required("missing", .array(of: .string), "The capabilities that are missing.")])
    /// 1003
    public static let messageTooLarge = RPCErrorKind(
        1003, "message_too_large",
        "The message is larger than the limit. It was skipped; the connection continues.",
        "Pass large bodies as a file or a descriptor, or send them with body.put.",
        members: [.required("limit_bytes", .integer, "The largest message.")])
    /// 1004
    public static let tooManyInFlight = RPCErrorKind(
        1004, "too_many_in_flight", isRetryable: true,
        """
        The connection has reached its limit of running calls, or the client, its user or all users their limit of \
        connections, subscriptions, raw streams or readers of streams.
        """,
        "Wait for answers, or end unused ones; `limit_name` is the limit.",
        members: [.optional("limit", .integer, "The limit.")] + quota)
    /// 1005
    public static let forbidden = RPCErrorKind(
        1005, "forbidden", "The caller's user may not do this.",
        "The owner of the daemon can give the user a role in the configuration.",
        members: [.optional("required_role", .string, "The role that is required.")])
    /// 1006
    public static let draining = RPCErrorKind(
        1006, "draining", isRetryable: true, "The daemon is shutting down and accepts no new calls.",
        "Connect again; the next daemon accepts the call.")
    /// 1007
    public static let answersTooLarge = RPCErrorKind(
        1007, "answers_too_large",
        "The answers of incomplete batches, of this connection or of all, have reached their limit of memory. This call was not carried out.",
        "Send the call alone, or again when earlier batches are answered.",
        members: [.required("limit_bytes", .integer, "The limit for such answers.")])
    /// 1008
    public static let memoryFull = RPCErrorKind(
        1008, "memory_full", isRetryable: true,
        "Incomplete messages have reached their limit of memory, and this one was incomplete for the longest time. It was dropped, and the rest of it is skipped; the connection continues.",
        "Send messages without interruption, and large bodies as a file.",
        members: [.required("limit_bytes", .integer, "The limit for all incomplete messages.")])
    /// 1101
    public static let requestNotFound = RPCErrorKind(
        1101, "request.not_found", "The request does not exist, or it belongs to another user.",
        "It may have been dismissed, or its retention has ended; see request.list.",
        members: [.required("request", .string, "The name in the call.")])
    /// 1102
    public static let wrongState = RPCErrorKind(
        1102, "wrong_state", "The object exists, but its state does not permit this call.",
        "Wait for the expected state, or do not call.",
        members: [
            .required("state", .string, "The current state."),
            .required("expected", .string, "The state that the call requires."),
            .optional("request", .string, "The request."),
            .optional("session", .string, "The session."),
        ])
    /// 1103
    public static let cursorExpired = RPCErrorKind(
        1103, "cursor_expired", "The journal no longer has the events after this cursor.",
        "Subscribe without a cursor.",
        members: [.required("cursor", .string, "The cursor.")])
    /// 1104
    public static let keyConflict = RPCErrorKind(
        1104, "key_conflict", "The idempotency key was used for a request with other parameters.",
        "Use a new key for a new request.",
        members: [
            .required("key", .string, "The key."),
            .required("request", .string, "The request that was made with the key."),
        ])
    /// 1105
    public static let sessionExists = RPCErrorKind(
        1105, "session.exists", "A session with this name exists, with another configuration.",
        "Choose another name, or invalidate that session first.",
        members: [.required("session", .string, "The name.")])
    /// 1106
    public static let bodyGone = RPCErrorKind(
        1106, "body.gone", "The body of this response is no longer stored.", "Send the request again.",
        members: [.required("request", .string, "The request.")])
    /// 1107
    public static let sessionNotFound = RPCErrorKind(
        1107, "session.not_found", "No session has this name.", "Create it first; see session.list.",
        members: [
            .required("session", .string, "The name in the call."),
            .optional("did_you_mean", .string, "The nearest known name."),
        ])
    /// 1108
    public static let clientNotFound = RPCErrorKind(
        1108, "client.not_found", "The client does not exist.", "It has disconnected; see client.list.",
        members: [.required("client", .string, "The name in the call.")])
    /// 1109
    public static let configurationRefused = RPCErrorKind(
        1109, "configuration.refused", "The configuration file is invalid. Nothing has changed.",
        "Correct the member that the message names, and reload again.")
    /// 1110
    public static let streamNotFound = RPCErrorKind(
        1110, "stream.not_found", "The stream does not exist, or it belongs to another connection.",
        "It was closed, or its connection has ended; open another one.",
        members: [.required("stream", .string, "The name in the call.")])
    /// 1111
    public static let streamFailed = RPCErrorKind(
        1111, "stream.failed", "A stream could not connect, or its connection has failed.",
        "See `error`; it has the same names as failures of requests.",
        members: [
            .required("error", .string, "The failure, such as `session_task_failed.cannot_connect_to_host`."),
            .optional("curl_code", .integer, "libcurl's error code."),
            .optional("errno", .integer, "The kernel's error number, see errno(3)."),
        ])
    /// 1112
    public static let requestSkipped = RPCErrorKind(
        1112, "request.skipped", "The call that this one follows has not succeeded. Nothing was sent.",
        "Look at the answer of that call, and call again without `after`.")
    /// 1201
    public static let queueFull = RPCErrorKind(
        1201, "queue_full", isRetryable: true,
        """
        The client, its user or all users have reached a limit of requests, of sessions, or of the memory of requests or \
        sessions.
        """,
        "Wait for requests to finish, or invalidate unused sessions; `limit_name` is the limit.",
        members: [
            .optional("limit", .integer, "The limit."),
            .optional("limit_bytes", .integer, "The limit in bytes of memory, if that was reached."),
        ] + quota)
    /// 1202
    public static let spoolFull = RPCErrorKind(
        1202, "spool_full", isRetryable: true,
        "The stored bodies of the client, of its user or of all have reached their limit.",
        "Release bodies after reading them, or dismiss their requests.",
        members: [.required("limit_bytes", .integer, "The limit.")])
    /// 1203
    public static let rateLimited = RPCErrorKind(
        1203, "rate_limited", isRetryable: true,
        "The waiting operations on files, of the client, of its user or of all, have reached their limit: a disk may have stalled.",
        "Retry after `retry_after_ms`.",
        members: [.required("retry_after_ms", .integer, "The delay in milliseconds.")])
    /// 1204
    public static let resourceUnavailable = RPCErrorKind(
        1204, "resource_unavailable", isRetryable: true,
        "The daemon or the machine has no file descriptor, memory or thread left for the call, which had no effect.",
        "Try again; `errno` says what is missing.",
        members: [.required("errno", .integer, "The kernel's error number, see errno(3).")])
    /// 1206
    public static let cacheUnavailable = RPCErrorKind(
        1206, "cache.unavailable", "No store of responses has this name, or the session has none.",
        "See cache.stats for the stores; a session has one if its configuration has `cache`.",
        members: [
            .optional("store", .string, "The store in the call."),
            .optional("session", .string, "The session in the call."),
        ])
    /// 1301
    public static let fileCannotOpen = RPCErrorKind(
        1301, "file.cannot_open", "The daemon cannot open a file that the call names.",
        "Check that it is a regular file, and that the daemon's user may read it. Paths are absolute.",
        members: [
            .required("path", .string, "The path."),
            .required("errno", .integer, "The kernel's error number, see errno(3)."),
        ])
    /// 1302
    public static let fileNotOwner = RPCErrorKind(
        1302, "file.not_owner", "Files are opened only for callers of the daemon's own user.",
        "Pass a descriptor or send the content; read responses with body.read or body.open.",
        members: [.required("path", .string, "The path.")])

    /// 1303
    public static let fileOtherView = RPCErrorKind(
        1303, "file.other_view",
        "The client sees other files than the daemon, or has other permissions: a container, a sandbox, a chroot, a dropped group.",
        "Pass a descriptor, send the content with body.put, and read responses with body.read or body.open.",
        members: [
            .required("path", .string, "The path."),
            .required("differs", .string, "How the client's view differs from the daemon's, for users."),
        ])

    /// 1401
    public static let certificateUnreadable = clientCertificate(
        1401, "client_certificate.unreadable",
        "Something else was found than a client certificate with its private key.",
        "Give PEM text with CERTIFICATE and PRIVATE KEY blocks, or a PKCS#12 file.")
    /// 1402
    public static let certificatePassword = clientCertificate(
        1402, "client_certificate.password",
        "The private key or its file is encrypted, and the password is wrong or missing.",
        "Correct the password.")
    /// 1403
    public static let certificateKeyMismatch = clientCertificate(
        1403, "client_certificate.key_mismatch", "The private key belongs to none of the certificates.",
        "Give the key of the certificate.")
    /// 1404
    public static let certificateUnsupportedKey = clientCertificate(
        1404, "client_certificate.unsupported_key",
        "The private key is of a kind that is not used, or takes too long to sign.",
        "Use an RSA key of 2,048 to 4,096 bits, P-256, P-384, P-521 or Ed25519.")
    /// 1405
    public static let certificateUnsupported = clientCertificate(
        1405, "client_certificate.unsupported",
        "The file is encrypted in a way that is not supported, or takes too long to decrypt.",
        "Convert it as `hint` says.")

    private static func clientCertificate(
        _ code: Int, _ name: StaticString, _ summary: String, _ remedy: String
    ) -> RPCErrorKind {
        RPCErrorKind(
            code, name, summary, remedy,
            members: [.required("path", .string, "The path of the parameter, like `params.client_certificate`.")])
    }

    /// The errors of reading a client certificate.
    static let ofClientCertificates: [RPCErrorKind] = [
        certificateUnreadable, certificatePassword, certificateKeyMismatch, certificateUnsupportedKey,
        certificateUnsupported,
    ]

    /// All of them, in the order of their codes as the documentation lists them.
    public static let all: [RPCErrorKind] =
        [
            parseError, invalidRequest, duplicateID, methodNotFound, invalidParams, internalError, cancelled,
            versionNotSupported, capabilityMissing, messageTooLarge, tooManyInFlight, forbidden, draining,
            answersTooLarge,
            memoryFull,
            requestNotFound,
            wrongState, cursorExpired, keyConflict, sessionExists, bodyGone, sessionNotFound, clientNotFound,
            configurationRefused, streamNotFound, streamFailed, requestSkipped, queueFull, spoolFull,
            rateLimited, resourceUnavailable, cacheUnavailable, fileCannotOpen, fileNotOwner, fileOtherView,
        ] + ofClientCertificates
}
