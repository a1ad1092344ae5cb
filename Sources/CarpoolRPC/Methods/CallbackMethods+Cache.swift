internal import CarpoolJSON

// Decisions of a client about storing.
extension CallbackMethods {
    static let cache = CallbackDescription(
        name: "callback.cache", summary: "Requests the decision whether a response is stored.",
        description: """
            Sent when the whole response was received, if it would be stored; never for one that came from the store. The request does \
            not wait for the answer. A body that the answer has is stored in place of the received one.
            """,
        params: aboutRequest + [
            urlRequest, response,
            .required(
                "body",
                .answer([
                    .required("size_bytes", .count, "The size of the body, as it would be stored."),
                    .optional("sha256", .string, "Its SHA-256 in hexadecimal digits, if the request has `sha256`."),
                ]), "The body."),
            .required(
                "proposed",
                .answer([
                    .optional("ttl_ms", .count, "How long it would be fresh; absent if it would be validated first."),
                    .required("storage", storage, "Where it would be stored."),
                ]), "What happens with `cache`."),
        ],
        result: .object(
            [
                .required(
                    "decision", .choice("cache", "do_not_cache", "modify"),
                    "`cache`: as it is. `do_not_cache`: not at all. `modify`: with the changes in the other members.")
            ] + JSONSchema.cacheModification + [
                .optional("body", JSONSchema.changedBody, "Another body."),
                .optional("storage", storage, "`memory` keeps it from the disk."),
            ]),
        examples: [
            .init(
                "a price is good for a minute",
                params: """
                    {"callback":"keep","session":"shop","request":"r_k3f9_1a","attempt":1,"deadline_ms":10000,"url_request":\
                    {"method":"GET","url":"https://example.com/price","headers":[]},"response":{"status":200,"http_version":"h2",\
                    "headers":[["etag","\\"7\\""]],"url":"https://example.com/price"},"body":{"size_bytes":2},\
                    "proposed":{"storage":"disk"}}
                    """, result: #"{"decision":"modify","ttl_ms":60000,"remove_headers":["Set-Cookie"]}"#)
        ])

    private static let storage = JSONSchema.choice("memory", "disk")
}
