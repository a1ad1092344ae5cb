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
            .object([.required("base64", .string, "Any bytes.")]), fileBody,
            .object([
                .required("stream", .constant(true), "Given with `body.put` while it is sent."),
                .optional(
                    "length_bytes", .count,
                    "How many bytes it will have. Absent: not known; HTTP/1.1 sends it in chunks."),
            ]),
            .object([
                .required("fd", place, "A descriptor that came with the line: a regular file, a pipe or a socket."),
                .optional("offset", .count, "Where to begin in a regular file, in bytes.", default: "0"),
                .optional(
                    "length_bytes", .count,
                    "How many bytes. Absent: to the end; HTTP/1.1 sends a pipe or a socket in chunks then."),
            ]),
            .object([.required("callback", bodyCallback, "Asks a client, as `callback.body`, whenever it is needed.")]),
            .object([
                .required(
                    "multipart", .array(of: part, count: 0...256),
                    "The parts of a form, sent as `multipart/form-data` whatever `headers` say."),
                .optional(
                    "boundary", .string(maxBytes: 70),
                    "What stands between the parts: letters, digits and `'+_-.`. Absent: one that no part holds by chance."
                ),
                .optional(
                    "memory_bytes", .integer(0...10_000_000),
                    "A form of fewer bytes is made in memory; of a larger one the files are read as they are sent.",
                    default: "1048576"),
            ])))

    /// A part of a file.
    static let fileBody = JSONSchema.object([
        .required("file", .string(maxBytes: 4_096), "The absolute path of a regular file."),
        .optional("offset", .count, "Where to begin, in bytes.", default: "0"),
        .optional("length_bytes", .count, "How many bytes. Absent: to the end."),
    ])

    /// One part of a form.
    private static let part = JSONSchema.named(
        "FormPart",
        .oneOf(
            .object(partMembers(.required("text", .string, "UTF-8."))),
            .object(
                partMembers(
                    .required(
                        "json", .any,
                        "Compact, as `application/json` unless `content_type` says otherwise; numbers and the order of members are kept."
                    ))),
            .object(partMembers(.required("base64", .string, "Any bytes."))),
            .object(
                partMembers(
                    .required("fd", place, "A descriptor that came with the line: a regular file, a pipe or a socket."),
                    .optional("offset", .count, "Where to begin in a regular file, in bytes.", default: "0"),
                    .optional(
                        "length_bytes", .count, "How many bytes; for a pipe or a socket there is no other way to know.")
                )),
            .object(
                partMembers(
                    .required("file", .string(maxBytes: 4_096), "The absolute path of a regular file."),
                    .optional("offset", .count, "Where to begin, in bytes.", default: "0"),
                    .optional("length_bytes", .count, "How many bytes. Absent: to the end.")))))

    /// The place of a descriptor among those that came with the line.
    private static let place = JSONSchema.integer(0...15)

    private static func partMembers(_ own: Member...) -> [Member] {
        [.required("name", .string(maxBytes: 4_096), "The field's name.")] + own + [
            .optional(
                "file_name", .string(maxBytes: 4_096), "What the file is called. Absent: for `file` as in its path."),
            .optional(
                "content_type", .string(maxBytes: 256),
                "The part's type. Absent: for `file` what goes with the extension of its name."),
        ]
    }
}
