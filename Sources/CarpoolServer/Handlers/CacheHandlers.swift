internal import CarpoolCache
internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// `cache.*`: stored responses.
struct CacheHandlers {
    let sessions: SessionService
    let requests: RequestService
    let cache: CacheService
    /// The daemon's user.
    let owner: UInt32

    var table: [String: Handler] {
        ["cache.stats": stats, "cache.list": list, "cache.get": get, "cache.purge": purge]
    }

    // MARK: Which stores

    private func user(of call: Call) -> UInt32? { call.client.uid == owner ? nil : call.client.uid }

    /// The store that a call names; `nil` if it names none.
    private func store(_ call: Call) throws(RPCError) -> CacheStoreName? {
        guard call.params["session"] == nil || call.params["store"] == nil else {
            throw .invalidParams(
                path: "params.store", message: "there is a session already", expected: "either a session or a store")
        }
        if call.params["session"] != nil {
            let session = try sessions.session(call.params["session"], of: call.client)
            guard let name = session.cacheStoreName else { throw .cacheUnavailable(session: session.name) }
            return name
        }
        guard let name = call.params["store"]?.string else { return nil }
        let shared = CacheStoreName(user: user(of: call), name: name, isShared: true)
        let own = CacheStoreName(user: user(of: call), name: name)
        let known = cache.stores.names(of: user(of: call))
        guard let found = [shared, own].first(where: known.contains) else { throw .cacheUnavailable(store: name) }
        return found
    }

    // MARK: Methods

    private func stats(_ call: Call) throws(RPCError) -> Answer {
        withStores(call) { named, done in
            defer { done() }
            let stores = cache.stores.statistics(of: user(of: call), named)
            call.answer { writer in
                writer.beginObject()
                writer.key("stores")
                writer.beginArray()
                for store in stores { CacheWriter.write(store, to: &writer) }
                writer.endArray()
                writer.endObject()
            }
        }
    }

    /// Opens the stores of earlier runs, and carries a call out then, with the store that it names. Calls of a user
    /// take turns, because each may look at all that is stored.
    /// - Parameter body: calls its second parameter when it is done, unless it throws.
    private func withStores(
        _ call: Call, _ body: @escaping (CacheStoreName?, _ done: @escaping () -> Void) throws(RPCError) -> Void
    ) -> Answer {
        cache.inTurn(of: call.client.uid) { done in
            guard call.isWanted else { return done() }
            cache.openAll(of: call.client.uid) {
                guard call.isWanted else { return done() }
                do throws(RPCError) { try body(try store(call), done) } catch {
                    call.fail(error)
                    done()
                }
            }
        }
        return .pending
    }

    private func list(_ call: Call) throws(RPCError) -> Answer {
        withStores(call) { named, done throws(RPCError) in try list(call, named, done) }
    }

    private func list(
        _ call: Call, _ named: CacheStoreName?, _ done: @escaping () -> Void
    ) throws(RPCError) {
        let stores = named.map { [$0] } ?? cache.stores.names(of: user(of: call))
        let place = try CacheListPlace(call, of: user(of: call))
        var filter = StoreFilter()
        filter.prefix = call.params["url"]?.string
        filter.origin = try call.params["origin"]?.string.map { text throws(RPCError) in
            try CacheHandlers.origin(text, path: "params.origin")
        }
        let search = CacheSearch(stores: stores, filter: filter, place: place, limit: ListPage(call).limit)
        search.run(in: cache.stores) { found, hasMore in
            defer { done() }
            guard call.isWanted else { return }
            call.answer { write(found, hasMore, ListPage(call), stores, to: &$0) }
        }
    }

    private func write(
        _ found: [CacheSearch.Found], _ hasMore: Bool, _ page: ListPage, _ stores: [CacheStoreName],
        to writer: inout JSONWriter
    ) {
        writer.beginObject()
        writer.key("entries")
        writer.beginArray()
        let start = writer.count
        var last: CacheSearch.Found?
        var isCut = hasMore
        for item in found {
            let before = writer.count
            CacheWriter.write(item.summary, requests.record, to: &writer)
            guard last == nil || writer.count - start <= page.room else {
                writer.rewind(to: before)
                isCut = true
                break
            }
            last = item
        }
        writer.endArray()
        writer.key("next")
        if isCut, let last { writer.string(last.place) } else { writer.null() }
        writer.endObject()
    }

    private func get(_ call: Call) throws(RPCError) -> Answer {
        let session = try sessions.session(call.params["session"], of: call.client)
        var parameters = RequestParameters(url: call.params["url"]?.string ?? "")
        if let headers = call.params["headers"] {
            parameters.fields = try RequestParametersDecoder.fields(headers, path: "params.headers")
        }
        if let method = call.params["method"]?.string {
            parameters.method = try RequestParametersDecoder.method(method, path: "params.method")
        }
        parameters.userAgent = call.client.userAgent
        let request: TransportRequest?
        do throws(SessionError) { request = try session.cacheRequest(for: parameters) } catch {
            throw .invalidParams(path: "params.url", message: error.message, expected: "an http or https URL")
        }
        guard let request else { throw .cacheUnavailable(session: session.name) }
        cache.stores.preview(of: request) { action, entry in
            guard call.isWanted else { return }
            call.answer { write(action, entry, to: &$0) }
        }
        return .pending
    }

    private func write(_ action: CacheAction, _ entry: CachedResponseSummary?, to writer: inout JSONWriter) {
        let (would, reason): (String, CacheReason) =
            switch action {
            case .serve(let answer), .serveAndRevalidate(let answer, _): ("serve", answer.reason)
            case .revalidate(let forwarding): ("revalidate", forwarding.reason)
            case .forward(let forwarding): ("forward", forwarding.reason)
            case .fail(let reason): ("fail", reason)
            }
        writer.beginObject()
        writer.member("would", would)
        writer.member("reason", reason.rawValue)
        writer.member("explanation", reason.explanation)
        if let entry {
            writer.key("entry")
            CacheWriter.write(entry, requests.record, to: &writer)
        }
        writer.endObject()
    }

    private func purge(_ call: Call) throws(RPCError) -> Answer {
        let filter = try purged(call)
        return withStores(call) { named, done in purge(call, named, filter, done) }
    }

    private func purge(
        _ call: Call, _ named: CacheStoreName?, _ filter: StoreFilter, _ done: @escaping () -> Void
    ) {
        let kind: CacheStores.Purge = call.params["soft"]?.bool == true ? .markStale : .remove
        cache.stores.purge(of: user(of: call), named, filter, kind) { count in
            defer { done() }
            guard call.isWanted else { return }
            call.answer { writer in
                writer.beginObject()
                writer.member("changed", count > 0)
                writer.member("purged", count)
                writer.endObject()
            }
        }
    }

    /// What is purged: one of five members says it.
    private func purged(_ call: Call) throws(RPCError) -> StoreFilter {
        let names = ["url", "prefix", "origin", "older_than_ms", "all"].filter { call.params[$0] != nil }
        guard names.count == 1 else {
            throw .invalidParams(
                path: names.isEmpty ? "params" : "params.\(names[1])",
                message: names.isEmpty ? "nothing says what is purged" : "there is \(names[0]) already",
                expected: "one of url, prefix, origin, older_than_ms and all")
        }
        var filter = StoreFilter()
        filter.prefix = call.params["prefix"]?.string
        filter.olderThanMilliseconds = call.params["older_than_ms"]?.int.map { Int64($0) }
        if let text = call.params["url"]?.string {
            filter.url = try CacheHandlers.url(text, path: "params.url").withoutFragment
        }
        if let text = call.params["origin"]?.string {
            filter.origin = try CacheHandlers.origin(text, path: "params.origin")
        }
        return filter
    }

    private static func origin(_ text: String, path: String) throws(RPCError) -> String {
        let url = try url(text, path: path)
        let target = url.requestTarget
        guard target == "/", !text.contains("?"), !text.contains("#") else {
            throw .invalidParams(
                path: path, message: "an origin has no path, and this one has \(target.prefix(64))",
                expected: "scheme, host and port alone; for a path a prefix of URLs")
        }
        return HTTPURL.normalText(of: url.origin)
    }

    private static func url(_ text: String, path: String) throws(RPCError) -> HTTPURL {
        do throws(TransportError) { return try HTTPURL(text) } catch {
            throw .invalidParams(path: path, message: error.message, expected: "an http or https URL")
        }
    }
}
