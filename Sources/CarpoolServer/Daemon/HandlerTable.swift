internal import CarpoolRPC

/// Every method's handler by name: the index of what the daemon can do. A test holds it against the catalogue.
enum HandlerTable {
    static func make(for server: Server) -> [String: Handler] {
        [
            RPCHandlers(server: server).table, ClientHandlers(server: server).table,
            DaemonHandlers(server: server).table,
            SessionHandlers(server: server).table, RequestHandlers(server: server).table,
            BodyHandlers(server: server).table,
            StreamHandlers(server: server).table, RawStreamHandlers(server: server).table,
            PoolHandlers(server: server).table, EventsHandlers(server: server).table,
            ReachabilityHandlers(server: server).table,
        ].reduce(into: [:]) { table, part in table.merge(part) { first, _ in first } }
    }
}
