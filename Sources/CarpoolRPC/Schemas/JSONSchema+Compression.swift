internal import CarpoolJSON

// How bodies of requests are compressed.
extension JSONSchema {
    /// The member `compress` of an interceptor.
    static let compress = JSONSchema.named(
        "Compress",
        .object([
            .optional(
                "format", .choice("deflate", "gzip"), "The format, which is what `Content-Encoding` says.",
                default: "\"deflate\""),
            .optional(
                "duplicate", .choice("error", "replace", "skip"),
                "What to do if the request has a `Content-Encoding` already: fail with `duplicate_header`, compress "
                    + "and replace it, or send the request as it is.", default: "\"error\""),
            .optional("min_bytes", count, "Bodies with fewer bytes are sent as they are.", default: "0"),
        ]).described("Works on bodies in memory; files are sent as they are."))
}
