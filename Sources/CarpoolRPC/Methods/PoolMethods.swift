internal import CarpoolJSON

/// `pool.*`: the connections that everybody shares.
enum PoolMethods {
    static let all: [Method] = [stats, flush]

    private static let stats = Method(
        "pool.stats", role: .observe, "Counts connections and transfers, origin by origin.",
        """
        `queued` above 0 for long means that the origin is slower than its callers, or `limits.host_connections` too small. \
        Users share no connection. An administrator sees the connections of all users, others those of their own. A page holds at most `limit` \
        origins, in the order in which they came, and fewer where the line would be too long; while `next` is not null, call again with it. \
        `total` counts all of them.
        """,
        params: [
            .optional("limit", .integer(1...1_000), "The most on a page.", default: "100"),
            .optional("next", .string(maxBytes: 64), "Where the last page ended."),
        ],
        result: .answer([
            .required(
                "origins",
                .array(
                    of: .answer([
                        .required("origin", .string, "Scheme, host and port."),
                        .optional(
                            "uid", .count, "The user whose connections these are; absent: the daemon's own user."),
                        .required("connections", .count, "Open connections."),
                        .required("idle", .count, "Those that no transfer uses."),
                        .required("active", .count, "Transfers on the network."),
                        .required("queued", .count, "Transfers that wait for admission."),
                        .optional("http_version", .string, "`h2` or `http/1.1`, once it is known."),
                    ])), "One page of the origins that have a connection or a transfer."),
            .required("next", .string.nullable, "For the next page; null on the last."),
            .required(
                "total",
                .answer([
                    .required("origins", .count, "Origins on all pages."),
                    .required("connections", .count, "Their open connections."),
                    .required("idle", .count, "Those that no transfer uses."),
                    .required("active", .count, "Transfers on the network."),
                    .required("queued", .count, "Transfers that wait for admission."),
                ]), "What the user has in all, or all users for an administrator."),
            .required("opened", .count, "Connections opened since the start."),
            .required("finished", .count, "Transfers finished since the start."),
            .required("reused", .count, "Those that went over a connection that was there already."),
            .required(
                "partitions", .count,
                "Pools that cannot share connections, because their trust or their user differs."),
        ]),
        examples: [
            .init(
                "one origin",
                result: """
                    {"origins":[{"origin":"https://example.com:443","connections":1,"idle":1,"active":0,"queued":0,\
                    "http_version":"h2"}],"next":null,"total":{"origins":1,"connections":1,"idle":1,"active":0,"queued":0},"opened":1,"finished":20,"reused":19,"partitions":1}
                    """)
        ])

    private static let flush = Method(
        "pool.flush", role: .admin, "Closes the connections that no transfer uses.",
        "The next request to each origin connects anew: after a change of network, name servers or certificates.",
        result: .answer([
            .required("changed", .boolean, "Whether there were any."),
            .required("state", .choice("flushed"), "There are none now."),
            .required("closed", .count, "How many there were."),
        ]), examples: [.init("one connection", result: #"{"changed":true,"state":"flushed","closed":1}"#)])
}
