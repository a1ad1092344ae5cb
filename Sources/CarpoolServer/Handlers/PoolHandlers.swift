internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC

/// `pool.*`: the pool of connections to origins.
struct PoolHandlers {
    let transport: CurlTransport
    let configuration: LiveConfiguration

    var table: [String: Handler] { ["pool.stats": stats, "pool.flush": flush] }

    /// All origins for an administrator, those of the caller's own user for others.
    private func stats(_ call: Call) throws(RPCError) -> Answer {
        let users = call.client.role == .admin ? .all : configuration.access.poolUsers(call.client.uid)
        let after = try ListPage.place(of: call, radix: 10)
        let page = ListPage(call)
        // One more than fits, to know whether there is another page.
        let origins = transport.origins(of: users, after: after, atMost: page.limit + 1)
        let (pool, total) = (transport.statistics(of: users), transport.load(of: users))
        return .result { writer in
            writer.beginObject()
            page.write("origins", origins, to: &writer, name: { String($0.number) }, write)
            writer.key("total")
            writer.beginObject()
            writer.member("origins", total.origins)
            total.writeMembers(to: &writer)
            writer.endObject()
            writer.member("opened", pool.openedConnections)
            writer.member("finished", pool.finishedTransfers)
            writer.member("reused", pool.reusedTransfers)
            writer.member("partitions", pool.partitions)
            writer.endObject()
        }
    }

    private func write(_ origin: OriginStatistics, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("origin", origin.origin.description)
        writer.member("uid", origin.user)
        writer.member("connections", origin.connections)
        writer.member("idle", origin.idle)
        writer.member("active", origin.active)
        writer.member("queued", origin.queued)
        writer.member("http_version", origin.httpVersion)
        if !origin.settings.isEmpty { writer.member("settings", origin.settings) }
        writer.endObject()
    }

    private func flush(_ call: Call) throws(RPCError) -> Answer {
        let closed = transport.closeIdleConnections()
        return .result { writer in
            writer.beginObject()
            writer.member("changed", closed > 0)
            writer.member("state", static: "flushed")
            writer.member("closed", closed)
            writer.endObject()
        }
    }
}

extension AccessPolicy {
    /// The part of the pool that is a user's.
    func poolUsers(_ uid: UInt32) -> PoolUsers { .user(uid == owner ? nil : uid) }
}

extension PoolLoad {
    /// Writes the numbers of connections and transfers.
    func writeMembers(to writer: inout JSONWriter) {
        writer.member("connections", connections)
        writer.member("idle", idle)
        writer.member("active", active)
        writer.member("queued", queued)
    }
}
