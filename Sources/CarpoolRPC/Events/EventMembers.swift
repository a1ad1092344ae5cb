internal import CarpoolJSON

/// Members of `data` that several events have in common.
enum EventMembers {
    static let target: [JSONSchema.Member] = [
        .required("method", .string, "The request's method."),
        .required("url", .string, "The request's URL, without a password."),
    ]
    static let size: [JSONSchema.Member] = [.required("size_bytes", .count, "The length of this piece.")]
    static let uploaded: [JSONSchema.Member] = [
        .required("sent_bytes", .count, "The bytes sent so far."),
        .optional("total_bytes", .count, "The length of the whole body; absent if it is not known."),
    ]
    static let total = JSONSchema.Member.optional(
        "total_bytes", .count, "The length of the whole body; absent if the origin does not send it.")
    static let progress: [JSONSchema.Member] = [
        .required("received_bytes", .count, "The bytes received so far."), total,
    ]
    static let error = JSONSchema.Member.required("error", .requestError, "The cause.")
    static let taskError: [JSONSchema.Member] = [
        .optional("error", .string, "The name of the transport's error; absent if the response is complete.")
    ]
    static let urlRequest: [JSONSchema.Member] =
        target + [
            .required(
                "headers", JSONSchema.pairs, "The header fields; only the client that made the request sees secrets."),
            .optional("truncated", .constant(true), "There were more fields than fit the line."),
        ]
    static let metrics: [JSONSchema.Member] = [
        .required("metrics", .array(of: JSONSchema.hop), "One for each hop, as in the record."),
        .optional("truncated", .constant(true), "There were more hops than fit the line; these are the last ones."),
    ]
    static let connection: [JSONSchema.Member] = [
        .required("connection", .integer, "The connection's number, as in a hop's metrics."),
        .required("origin", .string, "Scheme, host and port."),
    ]
}
