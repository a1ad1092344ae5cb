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
    /// What `data` holds besides `name`, `retryable` and `hint`.
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
    private static let detail = JSONSchema.Member("detail", .string, "The details, for people.", required: true)

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
        "Send one JSON text a line; the connection and its other calls go on.", members: [detail])
    /// -32600
    public static let invalidRequest = RPCErrorKind(
        -32600, "invalid_request",
        "The message is JSON, but no JSON-RPC 2.0 request, or has a member twice, or is nested too deep, or an empty batch.",
        "Compare it with the JSON-RPC 2.0 specification; `jsonrpc` must be \"2.0\".", members: [detail])
    /// -32600 for an id that is in use.
    public static let duplicateID = RPCErrorKind(
        -32600, "duplicate_id", "A call with the same id is under way on this connection.",
        "Give every call an id of its own; a counter will do.", members: [detail])
    /// -32601
    public static let methodNotFound = RPCErrorKind(
        -32601, "method_not_found", "There is no method of that name.", "Look it up with rpc.discover.",
        members: [detail, .optional("did_you_mean", .string, "The nearest known name.")])
    /// -32602
    public static let invalidParams = RPCErrorKind(
        -32602, "invalid_params", "A parameter is unknown, missing or wrong. Nothing has been done.",
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
        -32800, "cancelled", "The call was cancelled by rpc.cancel, or its connection was shut out.",
        "Nothing; the HTTP request that the call waited for goes on.")
    /// 1001
    public static let versionNotSupported = RPCErrorKind(
        1001, "version_not_supported", "The client and this daemon have no protocol version in common.",
        "Update the older of the two.",
        members: [.required("supported", .array(of: .integer), "The versions that the daemon supports.")])
    /// 1002
    public static let capabilityMissing = RPCErrorKind(
        1002, "capability_missing", "The client requires a capability that this daemon does not have.",
        "Update the daemon, or ask for it in `optional`.",
        members: [.required("missing", .array(of: .string), "The capabilities that are missing.")])
    /// 1003
    public static let messageTooLarge = RPCErrorKind(
        1003, "message_too_large",
        "The message is larger than the daemon reads. It was skipped; the connection goes on.",
        "Pass large bodies as a file.",
        members: [.required("limit_bytes", .integer, "The largest message.")])
    /// 1004
    public static let tooManyInFlight = RPCErrorKind(
        1004, "too_many_in_flight", isRetryable: true,
        """
        The connection has as many calls under way, or the client, its user or all users as many connections, subscriptions, \
        raw streams or readers of streams, as they may have.
        """,
        "Wait for answers, or end what is not needed; the message says which limit it was.",
        members: [.optional("limit", .integer, "The limit.")] + quota)
    /// 1005
    public static let forbidden = RPCErrorKind(
        1005, "forbidden", "The caller's user may not do this.",
        "Have the daemon's owner give the user a role in the configuration.",
        members: [.optional("required_role", .string, "The role that is required.")])
    /// 1006
    public static let draining = RPCErrorKind(
        1006, "draining", isRetryable: true, "The daemon is about to end and takes no new work.",
        "Connect again in a moment; the next daemon takes it.")
    /// 1007
    public static let answersTooLarge = RPCErrorKind(
        1007, "answers_too_large",
        "Answers of batches that are not complete take as much memory as they may, of this connection or of all. This call was not carried out.",
        "Send it alone, or again when the batches before it are answered.",
        members: [.required("limit_bytes", .integer, "The limit for such answers.")])
    /// 1008
    public static let memoryFull = RPCErrorKind(
        1008, "memory_full", isRetryable: true,
        "Messages that have not come whole take as much memory as they may, and this one has waited longest. It was given up, the rest of it is skipped; the connection goes on.",
        "Send messages in one go, and large bodies as a file.",
        members: [.required("limit_bytes", .integer, "The limit for all incomplete messages.")])
    /// 1101
    public static let requestNotFound = RPCErrorKind(
        1101, "request.not_found", "There is no such request, or it is another user's.",
        "It may have been dismissed, or its retention is over; see request.list.",
        members: [.required("request", .string, "The name in the call.")])
    /// 1102
    public static let wrongState = RPCErrorKind(
        1102, "wrong_state", "The object is there, but not in a state for this call.",
        "Wait for the state, or do without.",
        members: [
            .required("state", .string, "The present state."),
            .required("expected", .string, "The state that the call requires."),
            .optional("request", .string, "The request."),
            .optional("session", .string, "The session."),
        ])
    /// 1103
    public static let cursorExpired = RPCErrorKind(
        1103, "cursor_expired", "Events from that cursor on are not kept any more.", "Start from now.",
        members: [.required("cursor", .string, "The cursor.")])
    /// 1104
    public static let keyConflict = RPCErrorKind(
        1104, "key_conflict", "The idempotency key was used for a request with other parameters.",
        "Make a new key for a new request.",
        members: [
            .required("key", .string, "The key."),
            .required("request", .string, "The request that was made with the key."),
        ])
    /// 1105
    public static let sessionExists = RPCErrorKind(
        1105, "session.exists", "There is a session of that name, and its configuration is another one.",
        "Choose another name, or invalidate that session first.",
        members: [.required("session", .string, "The name.")])
    /// 1106
    public static let bodyGone = RPCErrorKind(
        1106, "body.gone", "The body of that response is not kept any more.", "Make the request again.",
        members: [.required("request", .string, "The request.")])
    /// 1107
    public static let sessionNotFound = RPCErrorKind(
        1107, "session.not_found", "There is no session of that name.", "Create it first; see session.list.",
        members: [
            .required("session", .string, "The name in the call."),
            .optional("did_you_mean", .string, "The nearest known name."),
        ])
    /// 1108
    public static let clientNotFound = RPCErrorKind(
        1108, "client.not_found", "There is no such client.", "It has gone; see client.list.",
        members: [.required("client", .string, "The name in the call.")])
    /// 1109
    public static let configurationRefused = RPCErrorKind(
        1109, "configuration.refused", "The configuration file cannot be used. Nothing has changed.",
        "Correct the place that the message names, and reload again.")
    /// 1110
    public static let streamNotFound = RPCErrorKind(
        1110, "stream.not_found", "There is no such stream, or it is another connection's.",
        "It is closed, or its connection has gone; open another.",
        members: [.required("stream", .string, "The name in the call.")])
    /// 1111
    public static let streamFailed = RPCErrorKind(
        1111, "stream.failed", "A stream could not be connected, or its connection has broken.",
        "See `error`, which has the names that failures of requests have.",
        members: [
            .required("error", .string, "The failure, such as `session_task_failed.cannot_connect_to_host`."),
            .optional("curl_code", .integer, "libcurl's number for it."),
            .optional("errno", .integer, "The kernel's number for it, of errno(3)."),
        ])
    /// 1201
    public static let queueFull = RPCErrorKind(
        1201, "queue_full", isRetryable: true,
        """
        There are as many requests, or sessions, or bytes of what requests send, as the client, its user or all users may \
        have.
        """,
        "Wait for requests to finish, or invalidate sessions that are not needed; the message says which limit it was.",
        members: [
            .optional("limit", .integer, "The limit."),
            .optional("limit_bytes", .integer, "The limit in bytes of memory, if that was reached."),
        ] + quota)
    /// 1202
    public static let spoolFull = RPCErrorKind(
        1202, "spool_full", isRetryable: true,
        "The bodies that are kept for the client, or for all, take all the room there is.",
        "Release bodies that are read, or dismiss their requests.",
        members: [.required("limit_bytes", .integer, "The limit.")])
    /// 1203
    public static let rateLimited = RPCErrorKind(
        1203, "rate_limited", isRetryable: true,
        "As many operations on files wait as may, of the client or of all: a disk may have stalled.",
        "Wait as long as `retry_after_ms` says.",
        members: [.required("retry_after_ms", .integer, "How long to wait, in milliseconds.")])
    /// 1301
    public static let fileCannotOpen = RPCErrorKind(
        1301, "file.cannot_open", "The daemon cannot open a file that the call names.",
        "Correct the path: it is absolute, and the daemon opens it with its own rights.",
        members: [
            .required("path", .string, "The path."),
            .required("errno", .integer, "The kernel's reason, a number of errno(3)."),
        ])
    /// 1302
    public static let fileNotOwner = RPCErrorKind(
        1302, "file.not_owner", "Files are opened only for callers of the daemon's own user.",
        "Pass a descriptor or send the content; read responses with body.read or body.open.",
        members: [.required("path", .string, "The path.")])

    /// 1303
    public static let fileOtherView = RPCErrorKind(
        1303, "file.other_view",
        "The client sees other files than the daemon, or has other rights: a container, a sandbox, a chroot, a dropped group.",
        "Pass a descriptor, send the content with body.put, and read responses with body.read or body.open.",
        members: [
            .required("path", .string, "The path."),
            .required("differs", .string, "How the client's view differs from the daemon's, for people."),
        ])

    /// All of them, in the order of their codes as the documentation lists them.
    public static let all: [RPCErrorKind] = [
        parseError, invalidRequest, duplicateID, methodNotFound, invalidParams, internalError, cancelled,
        versionNotSupported, capabilityMissing, messageTooLarge, tooManyInFlight, forbidden, draining, answersTooLarge,
        memoryFull,
        requestNotFound,
        wrongState, cursorExpired, keyConflict, sessionExists, bodyGone, sessionNotFound, clientNotFound,
        configurationRefused, streamNotFound, streamFailed, queueFull, spoolFull,
        rateLimited, fileCannotOpen, fileNotOwner, fileOtherView,
    ]
}
