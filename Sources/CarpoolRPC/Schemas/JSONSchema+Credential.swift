internal import CarpoolJSON

// The schema of `credential`.
extension JSONSchema {
    /// A user and a password for the origin of a request.
    static let credential = JSONSchema.named(
        "Credential",
        .object([
            .required(
                "username", .string(maxBytes: 1_024), "The user. Without a colon, unless `schemes` is only `digest`."),
            .required("password", .string(maxBytes: 4_096), "The password. It is never returned."),
            .optional(
                "schemes", .array(of: .choice("basic", "digest"), count: 1...2),
                "The schemes that may be used. The strongest one that the server offers is used.",
                default: "[\"basic\",\"digest\"]"),
            .optional(
                "preemptive", .boolean,
                "Whether they are sent with the first request, before a challenge. Requires `schemes` `[\"basic\"]`.",
                default: "false"),
        ]))
}
