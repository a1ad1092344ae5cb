internal import CarpoolJSON

// The messages of a stream.
extension JSONSchema {
    /// The format in which a reader receives the body.
    static let streamSerializer = JSONSchema.choice("bytes", "text", "lines", "json_lines", "sse")

    /// One event of an event stream.
    private static let serverSentEvent = JSONSchema.named(
        "ServerSentEvent",
        .answer([
            .required("event", .string, "Its type; `message` if the stream names none."),
            .required("data", .string, "Its `data` lines, joined by LF."),
            .required("id", .string, "The last `id` that the stream has named; empty if none."),
            .optional("retry_ms", .count, "The delay before a new request, if the event sets it."),
        ]))

    /// The end of a stream.
    private static let streamCompletion = JSONSchema.named(
        "StreamCompletion",
        .answer([
            .required("error", .oneOf(.requestError, .null), "The failure; null if the body is complete."),
            .required("state", .requestState, "The final state of the request."),
            .optional("status", .integer, "The status of the last response."),
            .required("size_bytes", .count, "The decoded bytes of the last attempt's body."),
        ]))

    /// The members of every message of a stream.
    static let streamMessage: [Member] = [
        .required("request", .requestName, "The request."),
        .required("as", streamSerializer, "The format of the reader's messages."),
        .required("seq", .count, "The number of the message among the reader's, from 1, without gaps."),
        .required("attempt", .integer, "The number of the request's attempt, from 1."),
        .required("size_bytes", .count, "The bytes of the stream in the message, as counted by credit."),
        .optional("base64", .string, "For `bytes`: the next bytes."),
        .optional("text", .string, "For `text`: the next piece."),
        .optional("lines", .array(of: .string), "For `lines`: the next lines, without their ends."),
        .optional("values", .array(of: .any), "For `json_lines`: the next values."),
        .optional("events", .array(of: serverSentEvent), "For `sse`: the next events."),
        .optional(
            "error", .requestError, "Why a record at this place could not be read; the next message continues after it."
        ),
        .optional("complete", streamCompletion, "The stream has ended; this is the last message."),
    ]
}
