internal import CarpoolJSON

/// `stream.*`: bytes over TCP or TLS, without HTTP.
enum StreamMethods {
    static let all: [Method] = [open, write, read, closeWrite, close]

    private static let stream = JSONSchema.Member.required(
        "stream", .string(maxBytes: 64), "The stream's name, as `stream.open` gave it.")

    private static let open = Method(
        "stream.open", role: .submit, "Connects a raw stream of bytes.",
        """
        Answers when the connection stands, TLS included. It is judged by the same rules as those of requests, but never \
        shared, and it belongs to the caller's connection: nobody else can use it, and it is closed with that. Bytes that \
        come wait for `stream.read`, 256 KiB of them; beyond that the peer waits.
        """,
        params: [
            .required("host", .string(maxBytes: 1_024), "A name or an address; one of IPv6 with or without brackets."),
            .required("port", .integer(1...65_535), "The port."),
            .optional("tls", .boolean, "Whether TLS is spoken.", default: "true"),
            .optional("trust", .trust, "How the server's certificate is judged. Absent: as the session says."),
            .optional("session", .sessionName, "Whose trust and connect timeout hold.", default: "\"default\""),
            .optional(
                "timeout_ms", .duration,
                "How long resolving, connecting and TLS may take together. Absent: the session's `connect_timeout_ms`."),
        ],
        result: .answer([
            .required("stream", .string, "The stream's name."),
            .required("host", .string, "The host, as it was asked for."),
            .required("port", .integer, "The port."),
            .required("tls", .boolean, "Whether TLS is spoken."),
        ]),
        errors: [
            .sessionNotFound, .tooManyInFlight, .fileCannotOpen, .fileNotOwner, .fileOtherView, .streamFailed,
            .draining,
        ],
        isInterruptible: true,
        examples: [
            .init(
                "over TCP", params: #"{"host":"echo.example.com","port":7,"tls":false}"#,
                result: #"{"stream":"raw_1","host":"echo.example.com","port":7,"tls":false}"#)
        ])

    private static let write = Method(
        "stream.write", role: .submit, "Sends bytes.",
        """
        The answer comes when they are taken, which waits while 256 KiB are not sent: whoever writes one piece after the \
        other, each after the answer to the one before, is as fast as the peer reads. Four calls may wait at a time.
        """,
        params: [
            stream,
            .optional("text", .string, "The bytes, if they are UTF-8."),
            .optional("base64", .string, "The bytes, whatever they are; one of the two."),
        ],
        result: .answer([
            .required("accepted_bytes", .count, "How many were taken."),
            .required("offset_bytes", .count, "How many were taken since the stream was opened."),
            .required("room_bytes", .count, "How many more are taken at once."),
        ]), errors: [.streamNotFound, .streamFailed, .wrongState, .tooManyInFlight], isInterruptible: true,
        examples: [
            .init(
                "a line", params: #"{"stream":"${raw}","text":"hello\n"}"#,
                result: #"{"accepted_bytes":6,"offset_bytes":6,"room_bytes":262144}"#)
        ])

    private static let read = Method(
        "stream.read", role: .submit, "Receives bytes.",
        """
        Waits until something is there. An answer without bytes says that the time was over or, with `eof`, that the peer \
        sends no more. One call may wait at a time.
        """,
        params: [
            stream,
            .optional("max_bytes", .integer(1...1_048_576), "The most bytes that are wanted.", default: "32768"),
            .optional("timeout_ms", .integer(0...60_000), "How long to wait.", default: "60000"),
        ],
        result: .answer([
            .required("base64", .string, "The bytes."),
            .required("size_bytes", .count, "How many they are."),
            .required("eof", .boolean, "Whether nothing comes behind them."),
        ]), errors: [.streamNotFound, .streamFailed, .wrongState], isInterruptible: true,
        examples: [
            .init(
                "what is there", params: #"{"stream":"${raw}","timeout_ms":0}"#,
                result: #"{"base64":"","size_bytes":0,"eof":false}"#)
        ])

    private static let closeWrite = Method(
        "stream.close_write", role: .submit, "Says that nothing more will be sent.",
        """
        When all is sent, the peer reads the end; what it sends is still received. Only without TLS: libcurl cannot send TLS's \
        close_notify and go on, and a TCP end without it would be taken for an attack. Say the end in what is spoken inside, \
        read the answer, and close the stream.
        """,
        params: [stream], result: .stateChange, errors: [.streamNotFound, .wrongState],
        examples: [
            .init("one", params: #"{"stream":"${raw}"}"#, result: #"{"changed":true,"state":"half_closed"}"#)
        ])

    private static let close = Method(
        "stream.close", role: .submit, "Ends a stream.",
        "At once, whatever has not been sent or read; TLS says so to the peer. One that is not there is no error.",
        params: [stream], result: .stateChange,
        examples: [.init("one", params: #"{"stream":"${raw}"}"#, result: #"{"changed":true,"state":"closed"}"#)])
}
