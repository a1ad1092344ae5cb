internal import CarpoolJSON

// Readers of the body of a request of kind `stream`, while it arrives.
extension RequestMethods {
    static let streams: [Method] = [read, attach, credit]

    private static let serializer = JSONSchema.Member.optional(
        "as", .streamSerializer,
        """
        `bytes`: the bytes in base64. `text`: UTF-8, never cut inside of a character; invalid bytes become U+FFFD. \
        `lines`: lines without LF or CRLF. `json_lines`: the value of each line that is not blank. `sse`: the events of an \
        event stream. A record that does not fit a line of the connection is replaced by an error.
        """, default: "\"bytes\"")

    private static let read = Method(
        "request.read", role: .submit, "Reads the next piece of a stream.",
        """
        For clients that poll. A request has one such reader, whichever connections its calls come from; the first call \
        chooses its format. The call waits until there is a piece. An answer with neither data nor `error` nor \
        `complete` means that the timeout has expired: call again. `complete` is in the last answer.
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
        "request.attach", role: .submit, "Sends a stream on this connection while it arrives.",
        """
        Each piece is a notification `request.data`, as long as there is credit: grant more with `request.credit` before \
        it is used up. The first reader of a stream receives all of it, a later one the bytes that arrive after it was attached. \
        Nothing is dropped: when a reader is 1 MiB behind, reading from the origin pauses, and other readers of the same \
        request wait. The reader keeps its connection open when the client has closed its side for writing, and ends with \
        the connection; bytes that it has not received stay for the next reader.
        """,
        params: [
            .request, serializer,
            .optional(
                "credit_bytes", .integer(0...Int64.max), "How many bytes of the stream may be sent.", default: "0"),
        ],
        result: .answer([
            .required("reader", .string, "The reader's name, which is in its notifications."),
            .required("request", .requestName, "The request."),
            .required("as", .streamSerializer, "The format of the reader's messages."),
        ]), errors: [.requestNotFound, .wrongState, .bodyGone, .tooManyInFlight],
        examples: [
            .init(
                "lines", params: #"{"request":"${streamed}","as":"lines","credit_bytes":1048576}"#,
                result: #"{"reader":"d1","request":"r_k3f9_1a","as":"lines"}"#)
        ])

    private static let credit = Method(
        "request.credit", role: .submit, "Grants credit to the readers of a stream.",
        """
        Credit is counted in bytes of the stream, as in `size_bytes` of the notifications. A record that is larger than \
        the rest of the credit is sent whole, and counts whole. The call is served even if the connection has too many \
        calls in flight.
        """,
        params: [
            .request, .required("credit_bytes", .integer(0...Int64.max), "The bytes of additional credit."),
            .optional(
                "reader", .string(maxBytes: 64), "The reader. Default: all readers of the request on this connection."),
        ], result: .stateChange, errors: [.requestNotFound],
        examples: [
            .init(
                "no reader is there", params: #"{"request":"${request}","credit_bytes":1048576}"#,
                result: #"{"changed":false,"state":"finished"}"#)
        ])
}
