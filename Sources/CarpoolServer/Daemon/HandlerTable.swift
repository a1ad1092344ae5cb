internal import CarpoolRPC

/// Every method's handler by name: the index of what the daemon can do. A test compares it with the catalogue.
enum HandlerTable {
    static func make(_ services: Services) -> [String: Handler] {
        parts(services).reduce(into: [:]) { table, part in table.merge(part) { first, _ in first } }
    }

    /// The handlers of each group.
    static func parts(_ services: Services) -> [[String: Handler]] {
        [
            RPCHandlers(document: services.document).table, clients(services).table,
            DaemonHandlers(services: services).table, sessions(services).table,
            CredentialHandlers(
                sessions: services.sessions, callFiles: services.callFiles, configuration: services.configuration
            ).table,
            CacheHandlers(
                sessions: services.sessions, requests: services.requests, cache: services.sessions.cache,
                owner: services.configuration.access.owner
            ).table,
            CookieHandlers(sessions: services.sessions, requests: services.requests).table, requests(services).table,
            explanations(services).table,
            BodyHandlers(requests: services.requests, worker: services.worker, files: services.sessions.files).table,
            StreamHandlers(requests: services.requests, streams: services.streams).table, rawStreams(services).table,
            PoolHandlers(transport: services.transport, configuration: services.configuration).table,
            events(services).table, reachability(services).table,
        ]
    }

    private static func clients(_ services: Services) -> ClientHandlers {
        ClientHandlers(
            connections: services.connections, callbacks: services.callbacks, publisher: services.publisher,
            configuration: services.configuration, identity: services.identity)
    }

    private static func sessions(_ services: Services) -> SessionHandlers {
        SessionHandlers(
            sessions: services.sessions, requests: services.requests, callFiles: services.callFiles,
            configuration: services.configuration, configurationPath: services.options.configurationPath,
            loop: services.loop)
    }

    private static func requests(_ services: Services) -> RequestHandlers {
        RequestHandlers(
            requests: services.requests, callFiles: services.callFiles, subscriptions: services.subscriptions)
    }

    private static func explanations(_ services: Services) -> ExplainHandlers {
        ExplainHandlers(
            requests: services.requests, sessions: services.sessions, callFiles: services.callFiles,
            transport: services.transport, configuration: services.configuration,
            configurationPath: services.options.configurationPath)
    }

    private static func rawStreams(_ services: Services) -> RawStreamHandlers {
        RawStreamHandlers(
            requests: services.requests, sessions: services.sessions, streams: services.streams,
            callFiles: services.callFiles, configuration: services.configuration)
    }

    private static func events(_ services: Services) -> EventsHandlers {
        EventsHandlers(
            publisher: services.publisher, subscriptions: services.subscriptions,
            configuration: services.configuration,
            snapshots: EventSnapshot.Sources(
                requests: services.requests, sessions: services.sessions, reachability: services.reachability,
                transport: services.transport, configuration: services.configuration))
    }

    private static func reachability(_ services: Services) -> ReachabilityHandlers {
        ReachabilityHandlers(
            service: services.reachability, publisher: services.publisher, subscriptions: services.subscriptions,
            configuration: services.configuration)
    }
}
