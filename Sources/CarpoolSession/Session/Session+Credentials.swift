internal import CarpoolHTTP

// The credentials that a request may use.
extension Session {
    /// Sets the credential of a space for requests that are sent from now on. Returns whether anything has changed.
    @discardableResult public func setCredential(_ entry: SessionCredentials.Entry) -> Bool {
        guard let old = credentials.set(entry) else { return true }
        guard old.credential != entry.credential else { return false }
        knownSpaces.forget(old.credential)
        return true
    }

    /// Removes the credential of a space. Returns whether there was one.
    @discardableResult public func removeCredential(of space: ProtectionSpace) -> Bool {
        guard let old = credentials.remove(space) else { return false }
        knownSpaces.forget(old.credential)
        return true
    }

    /// The request's own credential, if a hop may use it at a server: it is for the origin of the request's URL, or for
    /// hosts. That of a proxy is for the proxy.
    func ownCredential(
        at server: ChallengingServer, for hop: TransportRequest, of request: Request
    ) -> PasswordCredential? {
        if let chosen = request.authentication?[server].chosen, chosen.server == server.origin(for: hop) {
            return chosen.credential
        }
        switch server {
        case .origin:
            if let credential = request.parameters.credential,
                request.attempts.last?.request?.url.origin == hop.url.origin
            {
                return credential
            }
            return request.parameters.credentials?.credential(for: hop.url.origin)
        case .proxy:
            // Basic alone is sent by libcurl.
            guard let proxy = hop.partition.proxy, proxy.schemes != [.basic], let known = proxy.credential,
                hop.partition.proxyOrigin(for: hop.url.origin) != nil
            else { return nil }
            let schemes = proxy.schemes.compactMap { PasswordCredential.Scheme(rawValue: $0.rawValue) }
            return PasswordCredential(user: known.user, password: known.password, schemes: Set(schemes))
        }
    }

    /// Whether a hop may have an answer to a server: a field of the request takes precedence.
    func mayAuthenticate(at server: ChallengingServer, _ hop: TransportRequest) -> Bool {
        server == .proxy || !hop.fields.contains { $0.hasName("authorization") }
    }

    /// The credential for a realm of the server.
    func credential(
        for realm: String, at server: ChallengingServer, for hop: TransportRequest, of request: Request
    ) -> PasswordCredential? {
        if let own = ownCredential(at: server, for: hop, of: request) { return own }
        guard server == .origin, !credentials.entries.isEmpty else { return nil }
        return credentials.entry(for: hop.url.origin, realm: realm)?.credential
    }

    /// What authenticates a hop without a challenge: what was accepted before, or a preemptive credential.
    func unaskedAnswer(
        to server: ChallengingServer, at origin: Origin, for hop: TransportRequest, of request: Request
    ) -> RequestAuthentication.Answer? {
        let target = hop.url.requestTarget
        if let own = ownCredential(at: server, for: hop, of: request) {
            return knownSpaces.answer(at: origin, target, own) ?? (own.isPreemptive ? .basic(own, realm: "") : nil)
        }
        guard server == .origin, !credentials.entries.isEmpty else { return nil }
        var digest: RequestAuthentication.Answer?
        for entry in credentials.all(for: origin) {
            // A request's own credential, which may be the same, can be known in a realm that has another entry.
            guard let known = knownSpaces.answer(at: origin, target, entry.credential),
                credentials.entry(for: origin, realm: known.realm)?.credential == entry.credential
            else { continue }
            if case .basic = known { return known }
            digest = digest ?? known
        }
        if let digest { return digest }
        guard let entry = credentials.entry(for: origin, realm: nil), entry.credential.isPreemptive else { return nil }
        return .basic(entry.credential, realm: "")
    }
}
