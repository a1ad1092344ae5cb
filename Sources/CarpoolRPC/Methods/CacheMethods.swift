internal import CarpoolJSON

/// `cache.*`: the stored responses of sessions.
enum CacheMethods {
    static let all: [Method] = [stats, list, get, purge]

    private static let session = JSONSchema.Member.optional(
        "session", .sessionName, "Only the store of this session.", otherwise: "all stores of the user")
    private static let store = JSONSchema.Member.optional(
        "store", .string(maxBytes: 64), "Only this store that sessions share. Not together with `session`.",
        otherwise: "all stores of the user")

    private static let stats = Method(
        "cache.stats", role: .observe, "Returns sizes and counters of the stores of responses.",
        """
        Those of the caller's user; an administrator's call has no more. The counters begin with the daemon. A session has a store of its \
        own from its first request on, unless it names one that it shares.
        """,
        params: [store],
        result: .answer([.required("stores", .array(of: storeStatistics), "The stores by name.")]),
        errors: [.cacheUnavailable],
        examples: [
            .init(
                "one store",
                result: """
                    {"stores":[{"store":"default","session":"default","shared":false,"entries":2,"memory_bytes":3172,"disk_bytes":0,\
                    "counters":{"hits":40,"stale":0,"revalidated":3,"collapsed":0,"misses":5,"bypassed":12,"waits":0,"stored":5,\
                    "invalidated":0,"evicted":0,"corrupt":0,"write_failures":0,"saved_bytes":81920,\
                    "reasons":{"not_stored":2,"no_freshness":3,"method":12}}}]}
                    """)
        ])

    private static let list = Method(
        "cache.list", role: .submit, "Lists stored responses.",
        """
        Without their bodies and header fields, in an order without a meaning. A page has at most `limit` responses, and fewer if the line would be too long; while \
        `next` is not null, call again with it.
        """,
        params: [
            session, store,
            .optional(
                "url", .string(maxBytes: 65_536),
                "Only those whose URL begins with this text.", otherwise: "all"),
            origin,
            .optional("limit", .integer(1...1_000), "The most responses of a page.", default: "100"),
            .optional("next", .string(maxBytes: 8_192), "`next` of the previous page."),
        ],
        result: .answer([
            .required("entries", .array(of: .cacheEntry), "The responses."),
            .required("next", .string.nullable, "For the next page; null on the last."),
        ]),
        errors: [.sessionNotFound, .cacheUnavailable],
        examples: [
            .init(
                "none yet", params: #"{"origin":"https://example.com"}"#,
                result: #"{"entries":[],"next":null}"#)
        ])

    private static let origin = JSONSchema.Member.optional(
        "origin", .string(maxBytes: 512), "Only those of this origin: scheme, host and port, as in a URL.",
        otherwise: "all")

    private static let get = Method(
        "cache.get", role: .submit, "Returns what the cache would do with a request, and why.",
        """
        Nothing is sent or changed. The answer is for a request of the session with this URL and these fields, and with the policy of \
        the session; adapters and the credentials of challenges are not considered.
        """,
        params: [
            .required("url", .string(maxBytes: 65_536), "The URL of the request."),
            .optional("session", .sessionName, "The session of the request.", default: "\"default\""),
            .optional("headers", .headers, "The fields of the request.", otherwise: "those of the session"),
            .optional("method", .string(maxBytes: 64), "The method of the request.", default: "\"GET\""),
        ],
        result: .answer([
            .required(
                "would", .choice("serve", "revalidate", "forward", "fail"),
                """
                `serve`: from the store, without the origin. `revalidate`: the origin is asked whether the stored response is still \
                valid. `forward`: the origin is asked. `fail`: the request fails, and the origin is not asked.
                """),
            .required("reason", .string, "The reason: a word of the list on the page about the cache."),
            .required("explanation", .string, "The reason in a sentence."),
            .optional("entry", .cacheEntry, "The stored response that it is about."),
        ]),
        errors: [.sessionNotFound, .cacheUnavailable],
        examples: [
            .init(
                "nothing is stored", params: #"{"url":"${origin}/hello"}"#,
                result: """
                    {"would":"forward","reason":"not_stored","explanation":"No response is stored for this URL."}
                    """)
        ])

    private static let purge = Method(
        "cache.purge", role: .submit, "Removes stored responses.",
        """
        One of `url`, `prefix`, `origin`, `older_than_ms` and `all` says which. The response to a request that is under way is \
        not stored either. Requests that are receiving a stored body receive the rest of it.
        """,
        params: [
            .optional("url", .string(maxBytes: 65_536), "All responses of this URL, whatever the request's fields."),
            .optional("prefix", .string(maxBytes: 65_536), "All responses whose URL begins with this text."),
            .optional("origin", .string(maxBytes: 512), "All responses of this origin: scheme, host and port."),
            .optional(
                "older_than_ms", .integer(0...3_155_760_000_000), "All responses that were stored longer ago."),
            .optional("all", .constant(true), "All responses."),
            session, store,
            .optional(
                "soft", .boolean,
                "Whether they are marked as stale instead, so that the origin is asked whether they are still valid.",
                default: "false"),
        ],
        result: .answer([
            .required("changed", .boolean, "Whether a response was removed or marked."),
            .required("purged", .count, "How many."),
        ]),
        errors: [.sessionNotFound, .cacheUnavailable],
        examples: [
            .init(
                "one URL", params: #"{"url":"https://example.com/hello"}"#,
                result: #"{"changed":false,"purged":0}"#)
        ])

    private static let storeStatistics = JSONSchema.named(
        "CacheStore",
        .answer([
            .required("store", .string, "The name of the store."),
            .optional("session", .sessionName, "The session whose own store it is."),
            .required("shared", .boolean, "Whether sessions share it by its name."),
            .required("entries", .count, "The stored responses."),
            .required("memory_bytes", .count, "The bytes of those in memory."),
            .required("disk_bytes", .count, "The bytes of those on disk."),
            .optional("disk_fault", .string, "Why nothing is stored on disk at the moment."),
            .required("counters", counters, "What was counted since the start of the daemon."),
        ]))

    private static let counters = JSONSchema.answer([
        .required("hits", .count, "Served from the store, fresh."),
        .required("stale", .count, "Served from the store, stale."),
        .required("revalidated", .count, "Served from the store after the origin said that it is valid."),
        .required("collapsed", .count, "Served by an identical request that was under way."),
        .required("misses", .count, "Sent to the origin, because the store had nothing usable."),
        .required("bypassed", .count, "Sent to the origin without a look at the store."),
        .required("waits", .count, "Requests that waited for an identical one."),
        .required("stored", .count, "Responses that were stored."),
        .required("invalidated", .count, "Responses that a changing request, a site or a purge made unusable."),
        .required("evicted", .count, "Responses that were removed to make room."),
        .required("corrupt", .count, "Responses on disk that were damaged."),
        .required(
            "write_failures", .count,
            "Responses that could not be written, because the disk failed or could not take them in time."),
        .required("saved_bytes", .count, "The bytes of bodies that did not have to be received."),
        .required(
            "reasons", .map(of: .count), "How many requests the origin was asked for, by the reason."),
    ])
}
