internal import CarpoolJSON

/// `pool.*`: the shared connections.
enum PoolMethods {
    static let all: [Method] = [stats, flush]

    private static let stats = Method(
        "pool.stats", role: .observe, "Counts connections and transfers, origin by origin.",
        """
        `queued` above 0 for a long time means that the origin is slower than its callers, or that \
        `limits.host_connections` is too small. Users do not share connections. An administrator sees the connections of \
        all users, other users their own. A page has at most `limit` origins, oldest first, and fewer if the line would be \
        too long; while `next` is not null, call again with it. `total` counts the origins of all pages.
        """,
        params: [
            .optional("limit", .integer(1...1_000), "The most entries of a page.", default: "100"),
            .optional("next", .string(maxBytes: 64), "`next` of the previous page."),
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
                        .required("idle", .count, "Open connections without a transfer."),
                        .required("active", .count, "Running transfers."),
                        .required("queued", .count, "Transfers that wait for a connection."),
                        .optional("http_version", .string, "`h2` or `http/1.1`, once it is known."),
                        .optional(
                            "settings", .array(of: .string),
                            """
                            The settings of its connections that are not the default: `trust`, `tls`, `client_certificate`, `addresses`, \
                            and `host` for another `Host`.
                            """),
                    ])), "One page of the origins that have a connection or a transfer."),
            .required("next", .string.nullable, "For the next page; null on the last."),
            .required(
                "total",
                .answer([
                    .required("origins", .count, "Origins on all pages."),
                    .required("connections", .count, "Their open connections."),
                    .required("idle", .count, "Open connections without a transfer."),
                    .required("active", .count, "Running transfers."),
                    .required("queued", .count, "Transfers that wait for a connection."),
                ]), "The sums over all pages."),
            .required("opened", .count, "Connections opened since the start."),
            .required("finished", .count, "Transfers finished since the start."),
            .required("reused", .count, "Transfers over a connection that was open already."),
            .required(
                "partitions", .count,
                "Pools that cannot share connections, because their settings, their `Host` or their user differ."),
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
        "The next request to each origin makes a new connection. For use after a change of network, name servers or certificates.",
        result: .answer([
            .required("changed", .boolean, "Whether any connection was closed."),
            .required(
                "state", .choice("flushed"),
                "No request uses one of them any more. Their descriptors are closed within two seconds."),
            .required("closed", .count, "The number of closed connections."),
        ]), examples: [.init("one connection", result: #"{"changed":true,"state":"flushed","closed":1}"#)])
}
