internal import CarpoolJSON

// The cache.
extension EventType {
    static let cacheRows: [EventDescription] = [
        EventDescription(
            .taskWillCacheResponse, "task.will_cache_response", "EM-11",
            "A response was received that would be stored; a `handler` may decide otherwise.",
            stored,
            example: #"""
                {"store":"api","url":"https://example.com/hello","status":200,"size_bytes":6,"storage":"disk"}
                """#),
        EventDescription(
            .cacheStored, "cache.stored", nil, "A response was stored.", stored,
            example: #"""
                {"store":"api","url":"https://example.com/hello","status":200,"size_bytes":6,"ttl_ms":60000,"storage":"disk"}
                """#),
        EventDescription(
            .cacheHit, "cache.hit", nil, "A stored response was served without asking the origin.",
            about + [
                .required("status", .choice("hit", "stale"), "Whether it was fresh, or the policy took any."),
                .required("reason", .string, "The reason, as in the record."),
                .required("age_ms", .count, "Its age by the rules of HTTP."),
                .optional("ttl_ms", .integer, "How long it stays fresh; negative since it became stale."),
            ],
            example: #"""
                {"store":"api","url":"https://example.com/hello","status":"hit","reason":"fresh","age_ms":512,"ttl_ms":59488}
                """#),
        EventDescription(
            .cacheRevalidated, "cache.revalidated", nil,
            "The origin was asked whether a stored response is still valid, and said that it is.",
            about + [.optional("background", .constant(true), "After the response was served.")],
            example: #"{"store":"api","url":"https://example.com/hello"}"#),
        EventDescription(
            .cacheCollapsed, "cache.collapsed", nil,
            "A request is served by an identical one that is under way.",
            about + [.optional("leader", .requestName, "The other request, if it is the same client's.")],
            example: #"{"store":"api","url":"https://example.com/hello"}"#),
        EventDescription(
            .cacheInvalidated, "cache.invalidated", nil,
            "Stored responses became unusable.",
            [
                store, .optional("url", .string, "Their URL, without user and password, if it is one."), entries,
                .required(
                    "cause", .choice("method", "clear_site_data", "no_store", "purge"),
                    """
                    `method`: a request that changes the resource. `clear_site_data`: the site demands it. `no_store`: a newer response must \
                    not be stored. `purge`: `cache.purge`.
                    """),
            ],
            example: #"{"store":"api","url":"https://example.com/hello","entries":1,"cause":"method"}"#),
        EventDescription(
            .cacheEvicted, "cache.evicted", nil,
            "Stored responses were removed to make room; at most once a second for a store.",
            [store, entries, .required("size_bytes", .count, "Their bytes.")],
            example: #"{"store":"api","entries":12,"size_bytes":81920}"#),
        EventDescription(
            .cacheWriteFailed, "cache.write_failed", nil,
            "Nothing is stored on disk for a minute, because writing failed.",
            [
                store, .required("message", .string, "What failed."),
                .optional("errno", .integer, "The kernel's error number, see errno(3)."),
            ],
            example: #"{"store":"api","message":"no space left on device","errno":28}"#),
    ]

    private static let store = JSONSchema.Member.required("store", .string, "The name of the store.")
    private static let entries = JSONSchema.Member.required("entries", .count, "How many.")
    private static let about = [
        store, .required("url", .string, "The URL, without user and password."),
    ]
    private static let stored =
        about + [
            .required("status", .integer, "The response's status."),
            .required("size_bytes", .count, "The size of its body."),
            .optional("ttl_ms", .count, "How long it is fresh; absent if it is validated first."),
            .required("storage", .choice("memory", "disk"), "Where it is stored."),
        ]
}
