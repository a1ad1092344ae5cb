internal import CarpoolJSON

/// `request.*`: making, reading, waiting for and ending requests.
enum RequestMethods {
    static let all: [Method] =
        [submit, perform, explain, get, wait, response, list] + control + streams + [dismiss]

    /// Errors when a request is made, before anything is sent.
    private static let makingErrors: [RPCErrorKind] =
        [.sessionNotFound, .keyConflict, .queueFull, .draining] + readingErrors

    /// Errors of the files that a request names.
    static let readingErrors: [RPCErrorKind] =
        [.fileCannotOpen, .fileNotOwner, .fileOtherView] + RPCErrorKind.ofClientCertificates

    private static let submit = Method(
        "request.submit", role: .submit, "Makes a request, and answers at once with its name.",
        """
        The request continues without its caller and is kept after its end: 24 hours, or until 10,000 newer requests have \
        ended. Read it with `request.wait` or `request.get`, and `request.dismiss` it afterwards. With a `key`, repeating \
        the call while the same daemon runs returns the same request. A daemon that has ended, also by its idle exit or a \
        signal, has lost its keys: the same call is then a new request, and the origin may see two.
        """,
        params: AnyParameter.requestParameters(onDisconnect: .onDisconnectOfSubmit),
        result: .answer([
            .required("request", .requestName, "The request's name."),
            .required("state", .requestState, "Its state."),
            .required("cursor", .string, "The position in the stream of events before the request."),
            .optional("sub", .string, "The subscription to its events, if the call has `events`."),
            .optional("deduplicated", .boolean, "true if an earlier call with this key made the request."),
        ]), errors: makingErrors,
        examples: [
            .init(
                "with a key", params: #"{"url":"${origin}/hello","key":"report-2026-09-30"}"#,
                result: #"{"request":"r_k3f9_1a","state":"resumed","cursor":"k3f9.10443"}"#)
        ])

    static let after = JSONSchema.Member.optional(
        "after", .oneOf(.string, .number),
        """
        The `id` of an earlier `request.perform` of this connection. The request begins when that call has been answered \
        with a response whose status is below 300, and at once if that was the last such answer; otherwise the call ends \
        with `request.skipped`, and nothing was sent. Not for a request that continues without its caller. For a client \
        that makes requests one after the other without a round trip to the daemon between them.
        """)

    private static let perform = Method(
        "request.perform", role: .submit, "Makes a request, and answers with its response record.",
        """
        The answer is a response record whatever the status is, and also if there is no response: then `outcome.ok` is \
        false and `outcome.error` says why. An error of the call means that no request was made. The request is cancelled \
        if the connection is lost, unless `on_disconnect` is `detach`, and dismissed after the answer. A request with a \
        `key` continues and is kept, so that the call can be repeated while the same daemon runs; keys end with the \
        daemon. Cancelling the call does not cancel the request, which is then kept.
        """,
        params: AnyParameter.requestParameters(onDisconnect: .onDisconnectOfPerform) + [
            AnyParameter.detail.requestMember, after,
        ], result: .record,
        errors: makingErrors + [.requestSkipped],
        isInterruptible: true,
        examples: [
            .init("a GET", params: #"{"url":"${origin}/hello"}"#, result: RecordExamples.finished),
            .init(
                "a POST", params: #"{"url":"${origin}/hello","method":"POST","body":{"json":{"a":[1,2.5,null]}}}"#,
                result: RecordExamples.finished),
        ])

    private static let get = Method(
        "request.get", role: .submit, "Returns the current record of a request.",
        "Never waits. The record of a running request has its name and state; the record of a finished one is complete.",
        params: [.request, AnyParameter.detail.requestMember], result: .record, errors: [.requestNotFound],
        examples: [.init("one that is over", params: #"{"request":"${request}"}"#, result: RecordExamples.finished)])

    private static let wait = Method(
        "request.wait", role: .submit, "Waits until a request has ended.",
        """
        A long poll: answers with the whole record as soon as the request has ended, or with `finished: false` after \
        `timeout_ms`; then call again. Cancelling the call, or losing the connection, does not change the request.
        """,
        params: [
            .request,
            .optional("timeout_ms", .integer(0...60_000), "How long to wait.", default: "60000"),
            AnyParameter.detail.requestMember,
        ], result: .record, errors: [.requestNotFound], isInterruptible: true,
        examples: [
            .init(
                "one that is over", params: #"{"request":"${request}","timeout_ms":1000}"#,
                result: RecordExamples.finished)
        ])

    private static let response = Method(
        "request.response", role: .submit,
        "Returns the whole record, with new values of the body if the call has `serialize`.",
        """
        Waits like `request.wait`, and returns everything: what each attempt sent, with its fields, the responses, and the \
        timeline. With `serialize` it makes values of the stored body, any number of times; nothing is sent again. After a \
        failure or a cancellation each value is that failure.
        """,
        params: [
            .request,
            .optional("serialize", .serialization, "The values to make of the body. Default: those of the request."),
            .optional("timeout_ms", .integer(0...60_000), "How long to wait.", default: "60000"),
        ], result: .record, errors: [.requestNotFound], isInterruptible: true,
        examples: [
            .init(
                "as text", params: #"{"request":"${request}","serialize":"string"}"#, result: RecordExamples.whole)
        ])

    private static let entry = JSONSchema.named(
        "RequestEntry",
        .answer([
            .required("request", .requestName, "Its name."),
            .required("state", .requestState, "Its state."),
            .required("finished", .boolean, "Whether it has ended."),
            .required("session", .sessionName, "Its session."),
            .required("client", .string, "The client that made it."),
            .required("method", .string, "Its method."),
            .required("url", .string, "Its URL, without user and password; at most 2,048 bytes."),
            .optional("uid", .count, "The request's user; absent if it is the caller's own."),
            .optional("status", .integer, "The status of its response."),
            .optional("error", .string, "The name of its error."),
            .required("created", .time, "When it was made."),
            .optional("tags", .map(of: .string), "Its labels."),
        ]))

    private static let list = Method(
        "request.list", role: .submit, "Lists requests, the oldest first.",
        """
        Lists running requests and finished ones that are still stored. `mine`: those of the same client; `all`: those of the same user, \
        and for an administrator those of all users. A page has at most `limit` requests, and fewer if the line would be \
        too long; while `next` is not null, call again with it.
        """,
        params: [
            .optional("state", .requestState, "Only requests in this state. Default: all."),
            .optional("session", .sessionName, "Only requests of this session. Default: all."),
            .optional("scope", .choice("mine", "all"), "Whose requests.", default: "\"mine\""),
            .optional("limit", .integer(1...100), "The most entries of a page.", default: "100"),
            .optional("next", .string(maxBytes: 64), "`next` of the previous page."),
        ],
        result: .answer([
            .required("requests", .array(of: entry), "One page."),
            .required("next", .string.nullable, "For the next page; null on the last."),
        ]),
        examples: [
            .init(
                "those that are over", params: #"{"state":"finished","limit":10}"#,
                result: """
                    {"requests":[{"request":"r_k3f9_1a","state":"finished","finished":true,"session":"default",\
                    "client":"nightly-report","method":"GET","url":"https://example.com/hello","status":200,\
                    "created":"2026-09-30T10:00:00.123456Z"}],"next":null}
                    """)
        ])

    private static let dismiss = Method(
        "request.dismiss", role: .submit, "Forgets a request, and removes its body.",
        "A running request is cancelled first. Call it after reading a submitted request, to release its memory.",
        params: [.request], result: .stateChange, errors: [.requestNotFound],
        examples: [
            .init(
                "one that is over", params: #"{"request":"${request}"}"#,
                result: #"{"changed":true,"state":"dismissed"}"#)
        ])
}
