internal import CarpoolJSON

/// `request.*`: made, watched, waited for, ended.
enum RequestMethods {
    static let all: [Method] = [submit, perform, get, wait, response, list] + control + streams + [dismiss]

    /// What can go wrong when a request is made, before anything is sent.
    private static let makingErrors: [RPCErrorKind] = [
        .sessionNotFound, .keyConflict, .queueFull, .draining, .fileCannotOpen, .fileNotOwner, .fileOtherView,
    ]

    private static let submit = Method(
        "request.submit", role: .submit, "Makes a request and answers at once.",
        """
        The request goes on without its caller and is kept when it is over: 24 hours, or until 10,000 newer ones are over. \
        Get it with `request.wait` or `request.get`, and `request.dismiss` it when it is read. With a `key`, repeating the \
        call while the same daemon runs gives the same request. A daemon that has ended, also by its idle exit or by a \
        kill, has forgotten its keys: the same call is a new request then, and the origin may see two.
        """,
        params: AnyParameter.requestParameters(onDisconnect: .onDisconnectOfSubmit),
        result: .answer([
            .required("request", .requestName, "The request's name."),
            .required("state", .requestState, "Where it is in its life."),
            .required("cursor", .string, "Where the stream of events stood."),
            .optional("sub", .string, "The subscription to its events, if the call wanted one."),
            .optional("deduplicated", .boolean, "true if the key stood for this request already."),
        ]), errors: makingErrors,
        examples: [
            .init(
                "with a key", params: #"{"url":"${origin}/hello","key":"report-2026-09-30"}"#,
                result: #"{"request":"r_k3f9_1a","state":"resumed","cursor":"k3f9.10443"}"#)
        ])

    private static let perform = Method(
        "request.perform", role: .submit, "Makes a request and answers with its response.",
        """
        The answer is a response record whatever the status is, and also when there is no response at all: then \
        `outcome.ok` is false and `outcome.error` says why. An error of the call means that no request was made. The \
        request is cancelled if the connection is lost, unless `on_disconnect` is `detach`, and forgotten when it is \
        answered. One with a `key` goes on and is kept, so that the call can be repeated while the same daemon runs; the next \
        daemon knows no keys of this one. Cancelling the call leaves the request alone, and has it kept.
        """,
        params: AnyParameter.requestParameters(onDisconnect: .onDisconnectOfPerform), result: .record,
        errors: makingErrors,
        isInterruptible: true,
        examples: [
            .init("a GET", params: #"{"url":"${origin}/hello"}"#, result: RecordExamples.finished),
            .init(
                "a POST", params: #"{"url":"${origin}/hello","method":"POST","body":{"json":{"a":[1,2.5,null]}}}"#,
                result: RecordExamples.finished),
        ])

    private static let get = Method(
        "request.get", role: .submit, "Tells what is known of a request now.",
        "Never waits. Of a request under way it tells name and state, of one that is over the whole record.",
        params: [.request], result: .record, errors: [.requestNotFound],
        examples: [.init("one that is over", params: #"{"request":"${request}"}"#, result: RecordExamples.finished)])

    private static let wait = Method(
        "request.wait", role: .submit, "Waits until a request is over.",
        """
        The long poll: answers with the whole record as soon as the request is over, or with `finished: false` after \
        `timeout_ms`; then call again. Cancelling the call, or losing the connection, leaves the request alone.
        """,
        params: [
            .request,
            .optional("timeout_ms", .integer(0...60_000), "How long to wait.", default: "60000"),
        ], result: .record, errors: [.requestNotFound], isInterruptible: true,
        examples: [
            .init(
                "one that is over", params: #"{"request":"${request}","timeout_ms":1000}"#,
                result: RecordExamples.finished)
        ])

    private static let response = Method(
        "request.response", role: .submit, "Gives the whole record, with values made anew if they are asked for.",
        """
        Waits like `request.wait`, and tells everything: what each attempt sent, with its fields, what was answered, and the \
        timeline. With `serialize` it makes values of the body that is there, as often as it is asked: nothing is sent \
        again. After a failure or a cancellation each of them is that failure.
        """,
        params: [
            .request,
            .optional("serialize", .serialization, "What is made of the body. Absent: what the request asked for."),
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
            .required("state", .requestState, "Where it is in its life."),
            .required("finished", .boolean, "Whether it is over."),
            .required("session", .sessionName, "Its session."),
            .required("client", .string, "Who made it."),
            .required("method", .string, "Its method."),
            .required("url", .string, "Its URL, without user and password; at most 2,048 bytes."),
            .optional("uid", .count, "The user whose request it is; absent: the caller's own."),
            .optional("status", .integer, "The status of its response."),
            .optional("error", .string, "The name of its error."),
            .required("created", .time, "When it was made."),
            .optional("tags", .map(of: .string), "Its labels."),
        ]))

    private static let list = Method(
        "request.list", role: .submit, "Lists requests, the oldest first.",
        """
        Those under way and those that are kept. `mine` are those of the same client; `all` are those of the same user, and for \
        an administrator those of all users. A page holds at most \
        `limit` of them, and fewer where the line would be too long; while `next` is not null, call again with it.
        """,
        params: [
            .optional("state", .requestState, "Only these. Absent: all."),
            .optional("session", .sessionName, "Only those of this session. Absent: of all."),
            .optional("scope", .choice("mine", "all"), "Whose.", default: "\"mine\""),
            .optional("limit", .integer(1...100), "The most on a page.", default: "100"),
            .optional("next", .string(maxBytes: 64), "Where the last page ended."),
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
        "One that is under way is cancelled first. Do it when a submitted request is read: it makes room.",
        params: [.request], result: .stateChange, errors: [.requestNotFound],
        examples: [
            .init(
                "one that is over", params: #"{"request":"${request}"}"#,
                result: #"{"changed":true,"state":"dismissed"}"#)
        ])
}
