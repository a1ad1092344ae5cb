internal import CarpoolJSON

// How the body of a stream is told.
extension JSONSchema {
    /// What a reader gets it as.
    static let streamSerializer = JSONSchema.choice("bytes", "text", "lines", "json_lines", "sse")

    /// One event of an event stream.
    private static let serverSentEvent = JSONSchema.named(
        "ServerSentEvent",
        .answer([
            .required("event", .string, "Its type; `message` if the stream names none."),
            .required("data", .string, "Its `data` lines, joined by LF."),
            .required("id", .string, "The last `id` that the stream has named; empty if none."),
            .optional("retry_ms", .count, "How long to wait before a new request, where the stream has just said so."),
        ]))

    /// How it ended.
    private static let streamCompletion = JSONSchema.named(
        "StreamCompletion",
        .answer([
            .required("error", .oneOf(.requestError, .null), "Why it failed; null if it came whole."),
            .required("state", .requestState, "Where the request has ended."),
            .optional("status", .integer, "The status of the last response."),
            .required("size_bytes", .count, "The decoded bytes of the last attempt's body."),
        ]))

    /// What every message of a stream holds.
    static let streamMessage: [Member] = [
        .required("request", .requestName, "The request."),
        .required("as", streamSerializer, "What the reader gets."),
        .required("seq", .count, "The message's number among the reader's, from 1. None is left out."),
        .required("attempt", .integer, "The attempt of the request that it is of, from 1."),
        .required("size_bytes", .count, "The bytes of the stream that it took, as credit counts them."),
        .optional("base64", .string, "For `bytes`: the next ones."),
        .optional("text", .string, "For `text`: the next piece."),
        .optional("lines", .array(of: .string), "For `lines`: the next ones, without their ends."),
        .optional("values", .array(of: .any), "For `json_lines`: the next ones."),
        .optional("events", .array(of: serverSentEvent), "For `sse`: the next ones."),
        .optional("error", .requestError, "Why there is none of them at this place; what follows goes on behind it."),
        .optional("complete", streamCompletion, "The stream is over, and this is the last message."),
    ]
}
