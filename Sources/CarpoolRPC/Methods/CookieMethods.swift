internal import CarpoolJSON

/// `cookies.*`: the jars of sessions.
enum CookieMethods {
    static let all: [Method] = [list, set, remove, importing, export]

    private static let session = JSONSchema.Member.required(
        "session", .sessionName, "The name of a session whose configuration has `cookies`.")
    private static let domain = JSONSchema.Member.optional(
        "domain", .string(maxBytes: 255), "Only those of this host or domain.", otherwise: "all")
    private static let name = JSONSchema.Member.optional(
        "name", .string(maxBytes: 4_096), "Only those of this name.", otherwise: "all")
    private static let path = JSONSchema.Member.optional(
        "path", .string(maxBytes: 1_024), "Only those of this path.", otherwise: "all")
    private static let total = JSONSchema.Member.required("cookies", .count, "The cookies in the jar now.")
    private static let page: [JSONSchema.Member] = [
        .optional("limit", .integer(1...3_000), "The most cookies of a page.", default: "100"),
        .optional("next", .string(maxBytes: 8_192), "`next` of the previous page."),
    ]
    private static let next = JSONSchema.Member.required(
        "next", .string.nullable, "For the next page; null on the last.")

    private static let list = Method(
        "cookies.list", role: .submit, "Lists the cookies of a session, without their values.",
        """
        The oldest first; with `url` in the order in which they would be sent. A page has at most `limit` cookies, and \
        fewer if the line would be too long; while `next` is not null, call again with it.
        """,
        params: [
            session, domain, name,
            .optional(
                "url", .string(maxBytes: 65_536), "Only those that a request of this URL would be sent with.",
                otherwise: "all"),
        ] + page,
        result: .answer([.required("cookies", .array(of: .listedCookie), "The cookies."), next]),
        errors: [.sessionNotFound, .wrongState],
        examples: [
            .init(
                "none yet", params: #"{"session":"${session}","domain":"example.com"}"#,
                result: #"{"cookies":[],"next":null}"#)
        ])

    private static let set = Method(
        "cookies.set", role: .submit, "Adds cookies to a session.",
        "Each replaces the one with the same name, domain and path. One that has expired only removes it.",
        params: [
            session,
            .required("cookies", .array(of: .sessionCookie, count: 1...3_000), "The cookies."),
        ],
        result: .answer([total]), errors: [.sessionNotFound, .wrongState],
        examples: [
            .init(
                "a session id",
                params:
                    #"{"session":"${session}","cookies":[{"name":"sid","value":"1","domain":"example.com","secure":true}]}"#,
                result: #"{"cookies":1}"#)
        ])

    private static let remove = Method(
        "cookies.remove", role: .submit, "Removes cookies of a session: all, or those that are named.",
        "When the last cookie of a persistent session is removed, its file is removed too.",
        params: [session, domain, name, path],
        result: .answer([.required("removed", .count, "How many were removed."), total]),
        errors: [.sessionNotFound, .wrongState],
        examples: [
            .init(
                "all of a domain", params: #"{"session":"${session}","domain":"example.com"}"#,
                result: #"{"removed":0,"cookies":0}"#)
        ])

    private static let importing = Method(
        "cookies.import", role: .submit, "Adds the cookies of a text to a session.",
        """
        The text is the content of a cookie file of curl, wget or Python's `http.cookiejar` (Netscape's form). Lines that are no \
        cookies are ignored; cookies of a public suffix too. For the other form, `cookies.export` with `json`, see `cookies.set`.
        """,
        params: [
            session,
            .required("text", .string(maxBytes: 1_048_576), "The text; at most 3,000 cookies."),
        ],
        result: .answer([.required("imported", .count, "The cookies of the text."), total]),
        errors: [.sessionNotFound, .wrongState],
        examples: [
            .init(
                "one line",
                params: #"{"session":"${session}","text":"example.com\tFALSE\t/\tTRUE\t0\tsid\t1\n"}"#,
                result: #"{"imported":1,"cookies":1}"#)
        ])

    private static let export = Method(
        "cookies.export", role: .submit, "Returns cookies with their values.",
        """
        Of a session, or of a finished request with `cookies.export`, which only the client that made it may read. `netscape` is the \
        content of a cookie file for curl, wget or Python, in parts: write those of all pages one after the other. `json` is what \
        `cookies.set` takes. Of a request with `changes` these are the changes.
        """,
        params: [
            .optional("session", .sessionName, "The name of a session.", otherwise: "`request` is required"),
            .optional("request", .requestName, "The name of a request, in place of a session."),
            .optional("format", .choice("netscape", "json"), "The form.", default: "\"netscape\""),
        ] + page,
        result: .answer([
            .optional("text", .string, "The cookies as text."),
            .optional("list", .array(of: .exportedCookie), "The cookies as objects."),
            next,
        ]),
        errors: [.sessionNotFound, .requestNotFound, .wrongState],
        examples: [
            .init(
                "an empty jar", params: #"{"session":"${session}"}"#,
                result: ##"{"text":"# Netscape HTTP Cookie File\n","next":null}"##)
        ])
}
