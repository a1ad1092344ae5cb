internal import CarpoolJSON

// What happens on redirects.
extension JSONSchema {
    /// The handling of redirects.
    static let redirect = JSONSchema.named(
        "Redirect",
        .oneOf(
            .choice("follow", "do_not_follow").described(
                "`follow` follows up to 16 redirects; `do_not_follow` returns the redirect as the response."),
            .object([
                .optional("modify", redirectModification, "Follows, with these changes to each redirected request."),
                .optional(
                    "callback", redirectCallback,
                    "A client decides about each redirect, see `callback.redirect`. Not together with `modify`."),
                .optional(
                    "max_hops", .integer(0...64), "The most redirects to follow; one more fails the request.",
                    default: "16"),
                .optional(
                    "keep_method", .boolean,
                    "Whether 301, 302 and 303 keep method and body, as 307 and 308 do.", default: "false"),
                .optional(
                    "keep_authorization", .choice("never", "same_origin", "always"),
                    "Which origins receive `Authorization`: `same_origin` removes it for other origins.",
                    default: "\"same_origin\""),
                .optional(
                    "allow_downgrade", .boolean,
                    "Whether a redirect from https to http is followed; if not, it fails the request.",
                    default: "false"),
                .optional(
                    "strip_headers", headerNames,
                    "More headers to remove for other origins, besides those with the names of secrets."),
                .optional(
                    "keep_headers", headerNames,
                    "Headers with the names of secrets that every origin receives; not `Authorization`."),
            ])))

    /// The changes to a redirected request.
    private static let redirectModification = JSONSchema.named(
        "RedirectModification",
        .object([
            .optional(
                "url", .string(maxBytes: 65_536),
                "Another URL, absolute. User information in it becomes `Authorization`."),
            .optional("method", .string(maxBytes: 256), "The method. `GET` and `HEAD` drop the body."),
            .optional("set_headers", headers, "Headers that replace those of the same name."),
            .optional("remove_headers", headerNames, "Headers to remove."),
            .optional("drop_body", .boolean, "Whether to drop the body and its headers.", default: "false"),
        ]).described(
            "Applies after the rules of RFC 9110, to every hop. The fields that it sets are sent to any origin, credentials too."
        ))

    /// Names of fields; a request has few, and each costs a comparison.
    private static let headerNames = JSONSchema.array(of: .string(maxBytes: 256), count: 0...64)
}
