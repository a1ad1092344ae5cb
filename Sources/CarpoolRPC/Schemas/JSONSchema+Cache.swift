internal import CarpoolJSON

// The schemas of the cache.
extension JSONSchema {
    /// How stored responses are used.
    static let cachePolicy = JSONSchema.choice(
        "use_protocol", "reload_ignoring_cache", "return_cache_else_load", "return_cache_dont_load",
        "reload_revalidating", "no_store"
    ).described(
        """
        `use_protocol`: as HTTP says (RFC 9111). `reload_ignoring_cache`: the origin is asked, and its response is stored. \
        `return_cache_else_load`: a stored response of any age, else the origin. `return_cache_dont_load`: a stored response of any \
        age, else the request fails. `reload_revalidating`: the origin is asked whether the stored response is valid. `no_store`: \
        nothing is read or stored.
        """)

    /// The cache of a session.
    static let sessionCache = JSONSchema.named(
        "SessionCache", .oneOf(cachePolicy, .object(storeMembers + useMembers)))

    /// The cache of a request.
    static let requestCache = JSONSchema.named(
        "RequestCache",
        .oneOf(
            cachePolicy,
            .object(
                useMembers.map { .optional($0.name, $0.schema, $0.summary, otherwise: "the session's") } + [
                    .optional(
                        "store_downloads", .boolean, "Whether the response of a download is stored.", default: "false")
                ],
                elsewhere: storeMembers.map(\.name), because: "it belongs to the `cache` of a session")))

    private static let milliseconds = JSONSchema.integer(0...3_155_760_000_000)

    /// The members that sessions and requests have.
    private static let useMembers: [Member] = [
        .optional("policy", cachePolicy, "How stored responses are used.", default: "\"use_protocol\""),
        .optional(
            "ttl_ms", milliseconds,
            "How long responses are fresh, in place of what they say. Those with `no-store` are not stored all the same.",
            otherwise: "what the response says"),
        .optional(
            "ignore_remote", .boolean,
            "Whether `reload_ignoring_cache` sends `Cache-Control: no-cache`, for caches on the way.", default: "false"),
        .optional(
            "handler", cacheHandler, "Who decides about a response that would be stored.", default: "\"cache\""),
    ]

    private static let storeMembers: [Member] = [
        .optional(
            "store", .string(maxBytes: 64), "The name of a store that sessions of the user share.",
            otherwise: "the session's own"),
        .optional(
            "mode", .choice("private", "shared"),
            """
            The kind of cache (RFC 9111). `private`: for one user. `shared`: as a proxy does it, without responses marked `private`, and \
            with `s-maxage`.
            """, default: "\"private\""),
        .optional(
            "disk_bytes", .integer(0...1_099_511_627_776), "The most bytes of the store on disk; 0: memory alone.",
            default: "268435456"),
        .optional(
            "max_entry_bytes", .integer(0...33_554_432), "The most bytes of a stored body.",
            otherwise: "a twentieth of `disk_bytes`"),
        .optional(
            "heuristic", .boolean,
            "Whether a response that does not say how long it is fresh is, for a tenth of its age.", default: "true"),
        .optional("heuristic_max_ms", milliseconds, "The longest such time.", default: "3600000"),
        .optional(
            "stale_if_error_ms", milliseconds,
            "How long a stale response is used when the origin fails, unless the response says more.", default: "0"),
        .optional(
            "stale_if_offline_ms", milliseconds,
            "How long a stale response is used when the origin is out of reach.", default: "0"),
        .optional("coalesce", .boolean, "Whether identical requests at the same time are made once.", default: "true"),
        .optional(
            "coalesce_wait_ms", .integer(0...600_000), "How long a request waits for the head of an identical one.",
            default: "5000"),
        .optional(
            "disk_secrets", .boolean,
            "Whether responses to requests with credentials, and those with `Set-Cookie`, are stored on disk too.",
            default: "false"),
    ]

    // MARK: Handlers

    private static let cacheHandler = JSONSchema.named(
        "CacheHandler",
        .oneOf(
            .choice("cache", "do_not_cache").described(
                "`cache`: it is stored as HTTP says. `do_not_cache`: it is not stored."),
            .object([.required("modify", .object(cacheModification), "It is stored with these changes.")]),
            .object([.required("callback", cacheCallback, "A client decides, see `callback.cache`.")])))

    private static let cacheCallback = JSONSchema.named(
        "CacheCallback", callback(onFailure: ["do_not_cache", "cache"]))

    /// The changes to a response that is stored.
    static let cacheModification: [Member] = [
        .optional(
            "set_headers", .map(of: .string(maxBytes: 16_384), maxCount: 64),
            "Fields to set; they replace others of their name."),
        .optional(
            "remove_headers", .array(of: .string(maxBytes: 256), count: 0...64), "Names of fields to take out first."),
        .optional("ttl_ms", milliseconds, "How long it is fresh."),
    ]

    // MARK: Answers

    /// A stored response in a list.
    static let cacheEntry = JSONSchema.named(
        "CacheEntry",
        .answer([
            .required("url", .string, "The URL, without user and password."),
            .required("status", .integer, "The status."),
            .required("size_bytes", .count, "The size of the body."),
            .required("stored_at", .time, "When it was stored, or found valid again."),
            .required("age_ms", .count, "Its age by the rules of HTTP."),
            .optional("fresh_for_ms", .integer, "How long it stays fresh; negative since it became stale."),
            .required(
                "validators",
                .answer([
                    .optional("etag", .string, "The field `ETag`."),
                    .optional("last_modified", .string, "The field `Last-Modified`."),
                ]), "With what the origin can be asked whether it is still valid."),
            .required("vary", .array(of: .string), "The fields of the request that it depends on."),
            .required("where", .choice("memory", "disk"), "Where it is stored; `disk`: in memory perhaps too."),
            .required("hits", .count, "How often it was served since it was stored or the daemon began."),
            .optional("location", .string, "The URL that it redirects to."),
            .optional("store", .string, "The name of its store."),
        ]))

    /// What the cache did for a response.
    static let cacheOutcome = JSONSchema.named(
        "CacheOutcome",
        .answer([
            .required(
                "status", .choice("hit", "stale", "revalidated", "collapsed", "miss", "bypass"),
                """
                `hit`: from the store. `stale`: from the store, although it was not fresh. `revalidated`: from the store, after the origin \
                said that it is valid. `collapsed`: from an identical request. `miss`: from the origin, as the store had nothing usable. \
                `bypass`: from the origin, and the store was not read.
                """),
            .optional(
                "fwd", .choice("uri-miss", "vary-miss", "stale", "request", "method", "partial", "bypass"),
                "Why the origin was asked (RFC 9211)."),
            .required("reason", .string, "The reason: a word of the list on the page about the cache."),
            .optional("age_ms", .count, "The age of the response by the rules of HTTP."),
            .optional("ttl_ms", .integer, "How long it stays fresh; negative since it became stale."),
            .required("stored", .boolean, "Whether the origin's response was stored."),
        ]))

    /// Where a response came from.
    static let resourceFetchType = JSONSchema.choice("network", "local_cache")
}
