internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC

/// `pool.*`: the connections that everybody shares.
struct PoolHandlers {
    unowned let server: Server

    var table: [String: Handler] { ["pool.stats": stats, "pool.flush": flush] }

    /// All origins for an administrator, those of the caller's own user for others.
    private func stats(_ call: Call) throws(RPCError) -> Answer {
        let (uid, isAdmin) = (call.client.uid, call.client.role == .admin)
        let (pool, owner) = (server.transport.statistics, server.access.owner)
        return .result { writer in
            writer.beginObject()
            writer.key("origins")
            writer.beginArray()
            for origin in pool.origins where isAdmin || (origin.user ?? owner) == uid { write(origin, to: &writer) }
            writer.endArray()
            writer.member("opened", pool.openedConnections)
            writer.member("finished", pool.finishedTransfers)
            writer.member("reused", pool.reusedTransfers)
            writer.member("partitions", pool.partitions)
            writer.endObject()
        }
    }

    private func write(_ origin: PoolStatistics.OriginStatistics, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("origin", origin.origin.description)
        writer.member("uid", origin.user)
        writer.member("connections", origin.connections)
        writer.member("idle", origin.idle)
        writer.member("active", origin.active)
        writer.member("queued", origin.queued)
        writer.member("http_version", origin.httpVersion)
        writer.endObject()
    }

    private func flush(_ call: Call) throws(RPCError) -> Answer {
        let closed = server.transport.closeIdleConnections()
        return .result { writer in
            writer.beginObject()
            writer.member("changed", closed > 0)
            writer.member("state", static: "flushed")
            writer.member("closed", closed)
            writer.endObject()
        }
    }
}
