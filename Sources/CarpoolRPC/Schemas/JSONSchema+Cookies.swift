import CarpoolJSON

// The schemas of cookies.
extension JSONSchema {
    /// The cookies of a session.
    static let cookieSettings = JSONSchema.named(
        "CookieSettings",
        .object([
            .optional(
                "accept", .choice("always", "same_site", "never"),
                """
                Which cookies of responses are stored. `always`: all. `same_site`: those from the site of the request's URL, and not \
                from other sites that it was redirected to. `never`: none, so that the jar has what `cookies.set` and \
                `cookies.import` have added.
                """, default: "\"always\""),
            .optional("send", .boolean, "Whether requests are sent with the cookies.", default: "true"),
            .optional(
                "persistent", .boolean,
                """
                Whether the cookies that have an expiry date are stored on disk, and are there again when a session of the same name \
                is created.
                """, default: "false"),
        ]))

    /// The cookies of a request.
    static let requestCookies = JSONSchema.named(
        "RequestCookies",
        .object([
            .optional(
                "set", .array(of: cookie(mayLackDomain: true), count: 0...180),
                "Cookies. Those without `domain` are sent to the origin of the URL alone."),
            .optional(
                "import", .string(maxBytes: 1_048_576),
                """
                The text of a cookie file of curl, wget or Python (Netscape's form), or `Set-Cookie:` lines, which belong to the host of \
                the URL. At most 3,000 cookies; other lines are ignored.
                """),
            .optional(
                "drop_session_cookies", .boolean, "Whether cookies of `import` without an expiry date are left out.",
                default: "false"),
            .optional(
                "export", .oneOf(.boolean, .choice("netscape", "json", "changes")),
                """
                Whether the record has the jar at the end; true is `netscape`. `changes`: only what responses have changed, for a caller \
                with a jar of its own; also in the record of a request that is held at its head.
                """, default: "false"),
            .optional(
                "place", .integer(0...256),
                "How many of `headers` come before the field `Cookie`, without default fields.",
                otherwise: "all of them"),
        ]))

    /// A cookie of a session.
    static let sessionCookie = cookie(mayLackDomain: false)

    private static func cookie(mayLackDomain: Bool) -> JSONSchema {
        let domain = "The host; with `host_only` false also the hosts below it."
        return .named(
            mayLackDomain ? "RequestCookie" : "Cookie",
            .object([
                .required("name", .string(maxBytes: 4_096), "The name."),
                .required("value", .string(maxBytes: 4_096), "The value; with the name at most 4,096 bytes."),
                mayLackDomain
                    ? .optional("domain", .string(maxBytes: 255), domain, otherwise: "the origin of the URL")
                    : .required("domain", .string(maxBytes: 255), domain),
                .optional(
                    "host_only", .boolean, "Whether it is for the host alone.",
                    otherwise: "false; true for a public suffix such as `localhost`"),
                .optional("path", .string(maxBytes: 1_024), "The path, with those below it.", default: "\"/\""),
                .optional(
                    "expires", .oneOf(.integer(0...253_402_300_799), .null),
                    "The end of its life in seconds since 1970; null for the end of the session.", default: "null"),
                .optional("secure", .boolean, "Whether it is sent over TLS only.", default: "false"),
                .optional("http_only", .boolean, "Whether scripts of a page must not read it.", default: "false"),
                .optional(
                    "same_site", .choice("Strict", "Lax", "None"), "Stored and returned; it restricts nothing here."),
            ]))
    }

    /// A cookie in a list: without its value.
    static let listedCookie = JSONSchema.named(
        "ListedCookie", .answer(listedMembers + [.required("size_bytes", .count, "The bytes of name and value.")]))

    /// A cookie as it is exported.
    static let exportedCookie = JSONSchema.named(
        "ExportedCookie", .answer([.required("value", .string, "The value.")] + listedMembers))

    private static let listedMembers: [Member] = [
        .required("name", .string, "The name."),
        .required("domain", .string, "The host, or the domain of all hosts."),
        .required("host_only", .boolean, "Whether it is for the host alone."),
        .required("path", .string, "The path, with those below it."),
        .required("expires", .integer.nullable, "Seconds since 1970; null for the end of the session."),
        .required("secure", .boolean, "Whether it is sent over TLS only."),
        .required("http_only", .boolean, "Whether scripts of a page must not read it."),
        .optional("same_site", .choice("Strict", "Lax", "None"), "The attribute `SameSite`."),
    ]
}
