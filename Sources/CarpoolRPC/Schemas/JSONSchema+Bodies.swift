internal import CarpoolJSON

extension JSONSchema {
    /// The body of a request.
    static let requestBody = JSONSchema.named(
        "RequestBody",
        .oneOf(
            .object([.required("text", .string, "UTF-8.")]),
            .object([
                .required(
                    "json", .any,
                    "Sent as compact JSON, as `application/json` unless `headers` say otherwise; numbers and the order of members are preserved."
                )
            ]),
            .object([.required("base64", .string, "Any bytes.")]), fileBody,
            .object([
                .required("stream", .constant(true), "The client sends the body with `body.put`."),
                .optional(
                    "length_bytes", .count,
                    "The length of the body. Without it HTTP/1.1 sends the body in chunks."),
            ]),
            .object([
                .required("fd", place, "A descriptor that came with the line: a regular file, a pipe or a socket."),
                .optional("offset", .count, "The first byte of a regular file to send.", default: "0"),
                .optional(
                    "length_bytes", .count,
                    "The number of bytes. Default: to the end; without it HTTP/1.1 sends a pipe or a socket in chunks."),
            ]),
            .object([
                .required(
                    "pieces", .array(of: piece, count: 1...256),
                    "Pieces that are sent one after the other, and again from the first one if the body is sent again."
                )
            ]),
            .object([
                .required(
                    "callback", bodyCallback, "A client returns the body each time it is needed, see `callback.body`.")
            ]),
            .object([
                .required(
                    "multipart", .array(of: part, count: 0...256),
                    "The parts of a form, sent as `multipart/form-data` whatever `headers` say."),
                .optional(
                    "boundary", .string(maxBytes: 70),
                    "The boundary between the parts: letters, digits and `'+_-.`. Default: a random one."
                ),
                .optional(
                    "memory_bytes", .integer(0...10_000_000),
                    "A form with fewer bytes is made in memory; the files of a larger one are read while they are sent.",
                    default: "1048576"),
            ])))

    /// A piece of a body.
    private static let piece = JSONSchema.named(
        "BodyPiece",
        .oneOf(
            .object([.required("base64", .string, "Any bytes.")]),
            .object([
                .required("fd", place, "A descriptor of a regular file that came with the line."),
                .optional("offset", .count, "The first byte to send.", default: "0"),
                .optional("length_bytes", .count, "The number of bytes. Default: to the end."),
            ])))

    /// A part of a file.
    static let fileBody = JSONSchema.object([
        .required("file", .string(maxBytes: 4_096), "The absolute path of a regular file."),
        .optional("offset", .count, "The first byte to send.", default: "0"),
        .optional("length_bytes", .count, "The number of bytes. Default: to the end."),
    ])

    /// Where the body of a response goes.
    static let responseOutput = JSONSchema.named(
        "ResponseOutput",
        .oneOf(
            .choice("auto", "inline", "file").described(
                """
                `auto`: inline if it fits the line, otherwise a file. `inline`: the same, for callers without a file system: \
                read a larger one with `body.read`. `file`: always a file.
                """),
            .object([
                .required(
                    "fd", .oneOf(place, .choice("on_demand")),
                    """
                    A descriptor that came with the line and can be written to: a pipe, a connected stream socket, a terminal or a \
                    file. The body is written to it as it arrives. `on_demand`: the daemon asks for it with \
                    `request.output_needed` when there is something to write, and `request.output` passes it: a pipe for \
                    each request costs more than a short body.
                    """),
                .optional(
                    "inline_bytes", .integer(0...32_768),
                    """
                    A body of at most so many bytes that arrives at once is in the record instead, and nothing is written.
                    """, default: "0"),
                .optional(
                    "heads", .boolean,
                    """
                    Whether the heads of the responses come first, as they were received, those of interim responses and of answered challenges \
                    too: their length as eight hexadecimal digits and a line end, and then their bytes. The record has them if nothing is written. \
                    More than 300,000 bytes of all responses fail the request.
                    """, default: "false"),
                .optional(
                    "connect_heads", .boolean,
                    """
                    With `heads`: whether the answers of a proxy to CONNECT come before them, for whichever request the tunnel was made: their \
                    length as eight hexadecimal digits, a blank, the number of the connection as sixteen of them, a line end, and then their \
                    bytes. Of answers with more than 16,384 bytes there are none.
                    """, default: "false"),
                .optional(
                    "transfer_coding", .boolean,
                    """
                    Whether the body keeps its transfer coding, as it was received: the chunks of HTTP/1.1 with their sizes, and \
                    the trailer fields. Then its content is not decoded, and the cache is not used.
                    """, default: "false"),
            ])))

    /// One part of a form.
    private static let part = JSONSchema.named(
        "FormPart",
        .oneOf(
            .object(partMembers(.required("text", .string, "UTF-8."))),
            .object(
                partMembers(
                    .required(
                        "json", .any,
                        "Compact JSON, as `application/json` unless `content_type` says otherwise; numbers and the order of members are preserved."
                    ))),
            .object(partMembers(.required("base64", .string, "Any bytes."))),
            .object(
                partMembers(
                    .required("fd", place, "A descriptor that came with the line: a regular file, a pipe or a socket."),
                    .optional("offset", .count, "The first byte of a regular file to send.", default: "0"),
                    .optional(
                        "length_bytes", .count, "The number of bytes; required for a pipe or a socket.")
                )),
            .object(
                partMembers(
                    .required("file", .string(maxBytes: 4_096), "The absolute path of a regular file."),
                    .optional("offset", .count, "The first byte to send.", default: "0"),
                    .optional("length_bytes", .count, "The number of bytes. Default: to the end.")))))

    /// The place of a descriptor among those that came with the line.
    private static let place = JSONSchema.integer(0...15)

    private static func partMembers(_ own: Member...) -> [Member] {
        [.required("name", .string(maxBytes: 4_096), "The field's name.")] + own + [
            .optional(
                "file_name", .string(maxBytes: 4_096), "The name of the file. Default: for `file` the name in its path."
            ),
            .optional(
                "content_type", .string(maxBytes: 256),
                "The part's type. Default: for `file` the type of its extension."),
        ]
    }
}
