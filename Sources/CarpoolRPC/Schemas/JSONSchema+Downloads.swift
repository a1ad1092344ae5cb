internal import CarpoolJSON

// The destination of a download.
extension JSONSchema {
    private static let path = JSONSchema.string(maxBytes: 4_096)

    /// The options of a destination.
    static let destinationOptions: [Member] = [
        .optional(
            "remove_previous", .boolean,
            "Whether an existing file is replaced, atomically. If not, the request fails with EEXIST, and the file stays.",
            default: "false"),
        .optional(
            "keep_attributes", .boolean,
            """
            With `remove_previous`: whether mode, owner, group, access control list and extended attributes of the existing \
            file stay. A file that cannot be replaced without a loss is written in place, once the download is complete.
            """, default: "false"),
        .optional("create_directories", .boolean, "Whether missing directories are created.", default: "false"),
        .optional(
            "umask", .integer(0...511),
            "The umask of the file's mode 0666, as a number: 18 is 022. Clients send their own.",
            default: "18"
        ),
    ]

    private static let placement: [Member] =
        destinationOptions + [
            .optional(
                "validate_before_move", .boolean,
                "Whether the response is validated before the file is moved to its destination. If not, an error page may replace a good file.",
                default: "true")
        ]

    /// The destination of a download.
    static let destination = JSONSchema.named(
        "Destination",
        .oneOf(
            path.described("The absolute path of the file."),
            .object([.required("path", path, "The absolute path of the file.")] + placement),
            .object(
                [
                    .required(
                        "directory", path,
                        "The absolute path of a directory. The response names the file: `Content-Disposition`, or else its URL."
                    )
                ] + placement),
            .object(
                [
                    .required(
                        "callback", destinationCallback, "A client returns the destination, see `callback.destination`."
                    )
                ] + placement)
        ))

    /// A client that chooses the destination of a download.
    static let destinationCallback = JSONSchema.named("DestinationCallback", callback(onFailure: ["spool", "fail"]))
}
