internal import CarpoolJSON

/// `stream.*`: bytes over TCP or TLS, without HTTP.
enum StreamMethods {
    static let all: [Method] = [open, write, read, closeWrite, close]

    private static let stream = JSONSchema.Member.required(
        "stream", .string(maxBytes: 64), "The stream's name, from `stream.open`.")

    private static let open = Method(
        "stream.open", role: .submit, "Connects a raw stream of bytes.",
        """
        Answers when the connection is established, TLS included. The same rules apply as to connections of requests, but \
        it is never shared. It belongs to the caller's connection: no other client can use it, and it is closed with that \
        connection. Up to 256 KiB of received bytes wait for `stream.read`; then reading from the peer pauses.
        """,
        params: [
            .required("host", .string(maxBytes: 1_024), "A name or an address; one of IPv6 with or without brackets."),
            .required("port", .integer(1...65_535), "The port."),
            .optional("tls", .boolean, "Whether TLS is used.", default: "true"),
            .optional("trust", .trust, "How the server's certificate is verified. Default: the session's."),
            .optional(
                "session", .sessionName, "The session whose `trust` and `connect_timeout_ms` apply.",
                default: "\"default\""),
            .optional(
                "timeout_ms", .duration,
                "The longest time to resolve, connect and negotiate TLS. Default: the session's `connect_timeout_ms`."),
        ],
        result: .answer([
            .required("stream", .string, "The stream's name."),
            .required("host", .string, "The host of the call."),
            .required("port", .integer, "The port."),
            .required("tls", .boolean, "Whether TLS is used."),
        ]),
        errors: [
            .sessionNotFound, .tooManyInFlight, .queueFull, .fileCannotOpen, .fileNotOwner, .fileOtherView,
            .streamFailed, .draining,
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
        Answers when the bytes are accepted, which waits while 256 KiB are not sent. A client that writes each piece after \
        the answer to the previous one sends as fast as the peer reads. Four calls may wait at a time.
        """,
        params: [
            stream,
            .optional("text", .string, "The bytes, if they are UTF-8."),
            .optional("base64", .string, "Any bytes; one of the two."),
        ],
        result: .answer([
            .required("accepted_bytes", .count, "The number of bytes that were accepted."),
            .required("offset_bytes", .count, "The bytes accepted since the stream was opened."),
            .required("room_bytes", .count, "The bytes that are accepted without waiting."),
        ]), errors: [.streamNotFound, .streamFailed, .wrongState, .tooManyInFlight], isInterruptible: true,
        examples: [
            .init(
                "a line", params: #"{"stream":"${raw}","text":"hello\n"}"#,
                result: #"{"accepted_bytes":6,"offset_bytes":6,"room_bytes":262144}"#)
        ])

    private static let read = Method(
        "stream.read", role: .submit, "Receives bytes.",
        """
        Waits until there are bytes. An answer without bytes means that the timeout has expired or, with `eof`, that the peer \
        has closed its side. One call may wait at a time.
        """,
        params: [
            stream,
            .optional("max_bytes", .integer(1...1_048_576), "The most bytes to return.", default: "32768"),
            .optional("timeout_ms", .integer(0...60_000), "How long to wait.", default: "60000"),
        ],
        result: .answer([
            .required("base64", .string, "The bytes."),
            .required("size_bytes", .count, "Their number."),
            .required("eof", .boolean, "Whether the peer sends no more bytes."),
        ]), errors: [.streamNotFound, .streamFailed, .wrongState], isInterruptible: true,
        examples: [
            .init(
                "what is there", params: #"{"stream":"${raw}","timeout_ms":0}"#,
                result: #"{"base64":"","size_bytes":0,"eof":false}"#)
        ])

    private static let closeWrite = Method(
        "stream.close_write", role: .submit, "Ends the sending side of a stream.",
        """
        After all bytes are sent, the peer reads the end of the stream; its bytes are still received. Only without TLS: \
        libcurl cannot send close_notify and continue, and a TCP end without it looks like a truncation attack. Use the \
        end marker of the inner protocol, read the answer, and close the stream.
        """,
        params: [stream], result: .stateChange, errors: [.streamNotFound, .wrongState],
        examples: [
            .init("one", params: #"{"stream":"${raw}"}"#, result: #"{"changed":true,"state":"half_closed"}"#)
        ])

    private static let close = Method(
        "stream.close", role: .submit, "Ends a stream.",
        "Closes at once and drops unsent and unread bytes; with TLS the peer receives close_notify. A name without a stream is not an error.",
        params: [stream], result: .stateChange,
        examples: [.init("one", params: #"{"stream":"${raw}"}"#, result: #"{"changed":true,"state":"closed"}"#)])
}
