internal import CarpoolJSON

// Those who read the body of a request of kind `stream`, as it comes.
extension RequestMethods {
    static let streams: [Method] = [read, attach, credit]

    private static let serializer = JSONSchema.Member.optional(
        "as", .streamSerializer,
        """
        `bytes`: as they come, in base64. `text`: UTF-8, never cut inside of a character; bytes that are none become \
        U+FFFD. `lines`: without their ends, LF or CRLF. `json_lines`: the value of each line that is not blank. `sse`: \
        the events of an event stream. A record that does not fit a line of the connection is an error in its place.
        """, default: "\"bytes\"")

    private static let read = Method(
        "request.read", role: .submit, "Reads the next piece of a stream.",
        """
        For those who ask for one piece after the other; there is one such reader for the whole request, whatever \
        connections its calls come from, and the first call says what it gets. The call waits until something is there. An \
        answer with neither data nor `error` nor `complete` says that the time was over: call again. After `complete` \
        nothing follows.
        """,
        params: [
            .request, serializer,
            .optional(
                "credit_bytes", .integer(1...16_777_216),
                "The most bytes of the stream that the answer takes; one record may be larger.", default: "65536"),
            .optional("timeout_ms", .integer(0...60_000), "How long to wait.", default: "60000"),
        ],
        result: .named("StreamPiece", .answer(JSONSchema.streamMessage)),
        errors: [.requestNotFound, .wrongState, .bodyGone], isInterruptible: true,
        examples: [
            .init(
                "the first piece", params: #"{"request":"${streamed}","as":"text","credit_bytes":65536}"#,
                result: #"{"request":"r_k3f9_1a","as":"text","seq":1,"attempt":1,"size_bytes":6,"text":"hello\n"}"#)
        ])

    private static let attach = Method(
        "request.attach", role: .submit, "Has a stream sent on this connection as it comes.",
        """
        Each piece is a notification `request.data`, as long as there is credit: grant more with `request.credit` before \
        it is used up. The first reader of a stream gets all of it, a later one what comes from then on. Nothing is ever \
        dropped: when a reader is 1 MiB behind, the origin is not read from, and other readers of the same request wait \
        with it. The reader keeps its connection open when the client has closed its side for writing, and goes with \
        it; what it was not sent stays for the next one.
        """,
        params: [
            .request, serializer,
            .optional(
                "credit_bytes", .integer(0...Int64.max), "How many bytes of the stream may be sent.", default: "0"),
        ],
        result: .answer([
            .required("reader", .string, "The reader's name, which its notifications carry."),
            .required("request", .requestName, "The request."),
            .required("as", .streamSerializer, "What it gets."),
        ]), errors: [.requestNotFound, .wrongState, .bodyGone, .tooManyInFlight],
        examples: [
            .init(
                "lines", params: #"{"request":"${streamed}","as":"lines","credit_bytes":1048576}"#,
                result: #"{"reader":"d1","request":"r_k3f9_1a","as":"lines"}"#)
        ])

    private static let credit = Method(
        "request.credit", role: .submit, "Lets more of a stream be sent.",
        """
        Credit is counted in bytes of the stream, as `size_bytes` of the notifications tells them. A record that is larger \
        than what is left is sent whole, and counts whole. The call is served even when the connection has too many under \
        way.
        """,
        params: [
            .request, .required("credit_bytes", .integer(0...Int64.max), "How many bytes more."),
            .optional(
                "reader", .string(maxBytes: 64), "The reader. Absent: all of this connection that read the request."),
        ], result: .stateChange, errors: [.requestNotFound],
        examples: [
            .init(
                "no reader is there", params: #"{"request":"${request}","credit_bytes":1048576}"#,
                result: #"{"changed":false,"state":"finished"}"#)
        ])
}
