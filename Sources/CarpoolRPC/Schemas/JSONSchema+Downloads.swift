internal import CarpoolJSON

// Where a response goes that is saved to a file.
extension JSONSchema {
    private static let path = JSONSchema.string(maxBytes: 4_096)

    /// What may stand beside a place.
    static let destinationOptions: [Member] = [
        .optional(
            "remove_previous", .boolean,
            "Whether a file that is there is replaced, in one step. Else the request fails with EEXIST, and the file stays.",
            default: "false"),
        .optional("create_directories", .boolean, "Whether missing directories are made.", default: "false"),
        .optional(
            "umask", .integer(0...511),
            "What the file's mode, 0666, is less, as a number: 18 stands for 022. Clients tell their own.",
            default: "18"
        ),
    ]

    private static let placement: [Member] =
        destinationOptions + [
            .optional(
                "validate_before_move", .boolean,
                "Whether the response is judged before the file gets its name. Else a page of error may replace a good file.",
                default: "true")
        ]

    /// Where a download is stored.
    static let destination = JSONSchema.named(
        "Destination",
        .oneOf(
            path.described("The absolute path of the file."),
            .object([.required("path", path, "The absolute path of the file.")] + placement),
            .object(
                [
                    .required(
                        "directory", path,
                        "The absolute path of a directory. The response names the file: `Content-Disposition`, else its URL."
                    )
                ] + placement),
            .object(
                [.required("callback", destinationCallback, "Asks a client, as `callback.destination`.")] + placement)
        ))

    /// A client that says where a download goes.
    static let destinationCallback = JSONSchema.named("DestinationCallback", callback(onFailure: ["spool", "fail"]))
}
