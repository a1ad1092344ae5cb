public import CarpoolHTTP

// The session's cache, as its requests use it.
extension Session {
    /// The name of the session's store; `nil` without a cache.
    public var cacheStoreName: CacheStoreName? {
        configuration.caching.map {
            CacheStoreName(user: user, name: $0.storeName ?? name, isShared: $0.storeName != nil)
        }
    }

    /// How a hop uses the cache; `nil` without one.
    func cacheUse(for hop: TransportRequest, of request: Request) -> CacheUse? {
        // The next hops of a request of a session that is over would make its store again.
        guard !hasReleasedCache, let standard = standardCacheUse, let caching = configuration.caching else {
            return nil
        }
        let credential = cacheIdentity(of: hop, request)
        let isStandard = request.parameters.caching == nil && request.parameters.kind == .data
        if isStandard, credential.isEmpty, request.retryCount == 0, request.parameters.interceptor == nil {
            return standard
        }
        // A resumed download continues its own part of a response (HR-04).
        guard request.parameters.kind != .download || !hop.fields.contains(where: { $0.isNamed("range") }) else {
            return nil
        }
        var values = standard.values
        let own = request.parameters.caching
        values.policy = own?.policy ?? values.policy
        values.ignoresRemote = own?.ignoresRemote ?? values.ignoresRemote
        values.ttlMilliseconds = own?.ttlMilliseconds ?? values.ttlMilliseconds
        values.credential = credential
        values.revalidatesInBackground =
            values.revalidatesInBackground && request.parameters.interceptor?.adaptsSynchronously ?? true
            && own?.handler == nil
        switch request.parameters.kind {
        case .data: break
        case .download:
            let stores = own?.storesDownloads ?? caching.defaults.storesDownloads ?? false
            values.stores = stores
            values.coalesces = values.coalesces && stores
        case .stream, .upload: values.isExcluded = true
        }
        // The response that failed was stored: without a validation it would be served again.
        if request.retryCount > 0, values.policy == .useProtocol || values.policy == .returnCacheElseLoad {
            values.policy = .reloadRevalidating
        }
        return CacheUse(values)
    }

    /// How the session's requests use the cache if they say nothing; `nil` without a cache.
    func makeStandardCacheUse() -> CacheUse? {
        guard let caching = configuration.caching, let store = cacheStoreName else { return nil }
        var values = CacheUse.Values(store: store)
        values.settings = caching.settings
        if configuration.isEphemeral { values.settings.diskBytes = 0 }
        values.policy = caching.defaults.policy ?? .useProtocol
        values.ignoresRemote = caching.defaults.ignoresRemote ?? false
        values.ttlMilliseconds = caching.defaults.ttlMilliseconds
        values.coalesces = caching.settings.coalesces
        // In the background there is no request that a handler could be asked about.
        values.revalidatesInBackground =
            configuration.interceptor?.adaptsSynchronously ?? true && caching.defaults.handler == nil
        return CacheUse(values)
    }

    /// The request that these parameters would send first, to ask the store about it; `nil` without a cache.
    public func cacheRequest(for parameters: RequestParameters) throws(SessionError) -> TransportRequest? {
        guard let standard = standardCacheUse else { return nil }
        var request = try connectionPlan(for: parameters).request
        var values = standard.values
        for entry in credentials.all(for: request.url.origin) { values.credential.append(credential: entry.credential) }
        if configuration.cookies?.sends == true, let jar = cookieJar, jar.count > 0,
            let field = CookieField.field(jar.cookies(for: CookieTarget(request)))
        {
            request.hopFields = HopFields(authorization: nil, proxyAuthorization: nil, cookie: field)
        }
        for field in request.fields where isCacheSecret(field) { values.credential += Session.identity(of: field) }
        request.cache = CacheUse(values)
        return request
    }

    /// What identifies the caller besides `Authorization` and `Cookie` of the request: the credentials that a challenge
    /// of the origin would be answered with, and fields with names of secrets (HK-04).
    private func cacheIdentity(of hop: TransportRequest, _ request: Request) -> [UInt8] {
        var identity: [UInt8] = []
        if let own = ownCredential(at: .origin, for: hop, of: request) {
            identity.append(credential: own)
        } else if !credentials.entries.isEmpty {
            for entry in credentials.all(for: hop.url.origin) { identity.append(credential: entry.credential) }
        }
        // Keys and tokens in other fields: the store itself hashes `Authorization` and cookies.
        for field in hop.fields where isCacheSecret(field) {
            identity += Session.identity(of: field)
        }
        return identity
    }

    // MARK: Bodies that are files of a store

    /// The name in the spool that a stored body gets, if it would be written there anyway (HS-07).
    func pathForBody(of count: Int, for request: Request) -> String? {
        guard request.receiver == nil, case .deliver = request.redirection, request.error == nil, !request.isPaused,
            request.body.count == 0, !request.parameters.hashesBody, count > request.parameters.memoryLimitBytes,
            count <= request.parameters.options.maximumBodyBytes.value
        else { return nil }
        return spool.path(for: request)
    }

    /// The file of a stored body has its name in the spool.
    func didReceiveFile(of count: Int, at path: String, for request: Request) {
        do throws(SessionError) {
            let file = try spool.adoptFile(at: path, count: Int64(count), for: request)
            guard request.error == nil, !request.isOver else { return file.discard() }
            request.hopBytes += count
            didReceiveData(count, for: request)
            request.body.adopt(file, count: Int64(count))
        } catch {
            request.recordError(error)
        }
    }

    private static func identity(of field: HTTPField) -> [UInt8] {
        Array("\(field.name.lowercased()):\(field.value.utf8.count):\(field.value)".utf8)
    }

    private func isCacheSecret(_ field: HTTPField) -> Bool {
        !field.isNamed("user-agent") && !field.isNamed("accept-language") && !field.isNamed("accept")
            && (SecretNames.contains(field.name) || configuration.hiddenFields.contains(where: field.hasName))
            && !field.isNamed("authorization") && !field.isNamed("cookie")
    }

    /// A response is about to be stored: the monitors get the event (EM-11), and then the handler decides (CH-05).
    func willCache(_ proposal: CacheProposal, for request: Request) {
        notify(.taskWillCacheResponse(proposal), of: request)
        let handler = request.parameters.caching?.handler ?? configuration.caching?.defaults.handler ?? .cache
        handler.decide(about: proposal, of: request)
    }
}

extension [UInt8] {
    /// Adds a user and a password, so that no two lists of them have the same bytes.
    fileprivate mutating func append(credential: PasswordCredential) {
        for part in [credential.user.utf8, credential.password.utf8] {
            append(contentsOf: "\(part.count):".utf8)
            append(contentsOf: part)
        }
    }
}

extension Request {
    /// What the cache did for the last hop; `nil` without a cache.
    public var cacheOutcome: CacheOutcome? { attempts.last?.hops.last?.metrics?.cache }
}
