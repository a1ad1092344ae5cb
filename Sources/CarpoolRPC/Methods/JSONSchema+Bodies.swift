internal import CarpoolJSON

extension JSONSchema {
    /// What a request sends.
    static let requestBody = JSONSchema.named(
        "RequestBody",
        .oneOf(
            .object([.required("text", .string, "UTF-8.")]),
            .object([
                .required(
                    "json", .any,
                    "Sent compact, as `application/json` unless `headers` say otherwise; numbers and the order of members are kept."
                )
            ]),
            .object([.required("base64", .string, "Any bytes.")]),
            .object([
                .required("file", .string(maxBytes: 4_096), "The absolute path of a regular file."),
                .optional("offset", .count, "Where to begin, in bytes.", absent: "0"),
                .optional("length_bytes", .count, "How many bytes. Absent: to the end."),
            ]),
            .object([
                .required("stream", .constant(true), "Given with `body.put` while it is sent."),
                .optional(
                    "length_bytes", .count,
                    "How many bytes it will have. Absent: not known; HTTP/1.1 sends it in chunks."),
            ])))
}
