internal import CarpoolJSON

// What is done with redirects.
extension JSONSchema {
    /// What is done with a redirect.
    static let redirect = JSONSchema.named(
        "Redirect",
        .oneOf(
            .choice("follow", "do_not_follow").described(
                "`follow` goes up to 16 hops; `do_not_follow` gives the response that redirects."),
            .object([
                .optional("modify", redirectModification, "Follow, and change each redirected request like this."),
                .optional(
                    "callback", redirectCallback,
                    "Ask a client each time; without an answer `do_not_follow`. Not together with `modify`."),
                .optional(
                    "max_hops", .integer(0...64), "Follow at most so many; one more fails the request.", default: "16"),
                .optional(
                    "keep_method", .boolean,
                    "Whether 301, 302 and 303 keep method and body too, as 307 and 308 do.", default: "false"),
                .optional(
                    "keep_authorization", .choice("never", "same_origin", "always"),
                    "How far `Authorization` goes: `same_origin` keeps it from other origins.",
                    default: "\"same_origin\""),
                .optional(
                    "allow_downgrade", .boolean, "Whether https may be left for http; if not, the request fails then.",
                    default: "false"),
                .optional(
                    "strip_headers", headerNames,
                    "More headers that other origins do not get, besides those whose names say that they are secret."),
                .optional(
                    "keep_headers", headerNames,
                    "Headers that every origin gets, though their names say that they are secret; not `Authorization`."),
            ])))

    /// What is changed in a redirected request.
    private static let redirectModification = JSONSchema.named(
        "RedirectModification",
        .object([
            .optional(
                "url", .string(maxBytes: 65_536),
                "Go there instead: a whole URL. User information in it becomes `Authorization`."),
            .optional("method", .string(maxBytes: 256), "The method. `GET` and `HEAD` leave the body behind."),
            .optional("set_headers", headers, "Headers that replace those of the same name."),
            .optional("remove_headers", headerNames, "Headers that are taken away."),
            .optional("drop_body", .boolean, "Whether the body and its headers are left behind.", default: "false"),
        ]).described(
            "Applies after the rules of RFC 9110, to every hop. What it sets is sent to any origin, credentials too."))

    /// Names of fields; a request has few, and each costs a comparison.
    private static let headerNames = JSONSchema.array(of: .string(maxBytes: 256), count: 0...64)
}
