internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// Reads `cache` of sessions and of requests. The value has passed the schema.
struct CacheReader {
    /// Makes the deciders that ask a client.
    let callbacks: any CallbackFactory

    /// The cache of a session.
    func session(_ json: JSON, path: String) throws(RPCError) -> SessionCaching? {
        guard !json.isString("no_store") else { return nil }
        var caching = SessionCaching()
        caching.defaults = try request(json, path: path)
        guard json.kind == .object else { return caching }
        caching.storeName = try storeName(json["store"]?.string, path: "\(path).store")
        let settings = CacheReader.settings(json)
        caching.settings = settings
        return caching
    }

    private func storeName(_ name: String?, path: String) throws(RPCError) -> String? {
        guard let name else { return nil }
        guard SessionName.isOne(name) else {
            throw .invalidParams(
                path: path, message: "not a store's name: \(name.prefix(64).debugDescription)",
                expected: SessionName.rule)
        }
        return name
    }

    private static func settings(_ json: JSON) -> CacheSettings {
        var settings = CacheSettings()
        if let mode = json["mode"]?.string.flatMap(CacheSettings.Mode.init(rawValue:)) { settings.mode = mode }
        if let bytes = json["disk_bytes"]?.int { settings.diskBytes = bytes }
        settings.maximumEntryBytes = json["max_entry_bytes"]?.int
        if let value = json["heuristic"]?.bool { settings.isHeuristic = value }
        if let value = json["heuristic_max_ms"]?.int { settings.heuristicMaximumMilliseconds = value }
        if let value = json["stale_if_error_ms"]?.int { settings.staleIfErrorMilliseconds = value }
        if let value = json["stale_if_offline_ms"]?.int { settings.staleIfOfflineMilliseconds = value }
        if let value = json["coalesce"]?.bool { settings.coalesces = value }
        if let value = json["coalesce_wait_ms"]?.int { settings.coalesceWaitMilliseconds = value }
        if let value = json["disk_secrets"]?.bool { settings.storesSecretsOnDisk = value }
        return settings
    }

    /// How a request uses the cache of its session.
    func request(_ json: JSON, path: String) throws(RPCError) -> RequestCaching {
        var caching = RequestCaching()
        let policy = json.kind == .object ? json["policy"]?.string : json.string
        caching.policy = policy.flatMap(RequestCachePolicy.init(rawValue:))
        guard json.kind == .object else { return caching }
        caching.ttlMilliseconds = json["ttl_ms"]?.int
        caching.ignoresRemote = json["ignore_remote"]?.bool
        caching.storesDownloads = json["store_downloads"]?.bool
        if let handler = json["handler"] { caching.handler = try self.handler(handler, path: "\(path).handler") }
        return caching
    }

    private func handler(_ json: JSON, path: String) throws(RPCError) -> CachedResponseHandler {
        if let callback = json["callback"] {
            return .ask(try callbacks.cachedResponseDecider(callback, path: "\(path).callback"))
        }
        guard let modify = json["modify"] else { return json.isString("do_not_cache") ? .doNotCache : .cache }
        do throws(JSONError) {
            let decision = try CacheModification(modify, path: "\(path).modify").decision
            return .modify { _ in decision }
        } catch {
            throw .invalidParams(
                path: error.path ?? "\(path).modify", message: error.message,
                expected: error.expected ?? "changes to a response")
        }
    }
}
