public import CarpoolHTTP

// Cookies: from a response into a jar, and from the jar into the next request.
extension Session {
    /// The jar of a request for a hop: its own, or the session's; `nil` for none. Over a Unix socket the host is only a
    /// name, and different servers have the same one: the session's jar is not used there.
    private func jar(of request: Request, for hop: TransportRequest) -> CookieJar? {
        guard let cookies = request.parameters.cookies else {
            return hop.partition.addresses?.socket == nil ? cookieJar : nil
        }
        if let jar = request.ownJar { return jar }
        let jar = CookieJar(cookies.cookies, memory: makeCookieMemory?())
        request.ownJar = jar
        return jar
    }

    /// The field with the cookies for a hop; `nil` for none. A field `Cookie` of the request takes precedence.
    func cookieField(for hop: TransportRequest, of request: Request) -> HTTPField? {
        guard let jar = jar(of: request, for: hop), jar.count > 0, sendsCookies(of: request),
            !hop.fields.contains(where: { $0.isNamed("cookie") })
        else { return nil }
        return CookieField.field(jar.cookies(for: CookieTarget(hop)))
    }

    private func sendsCookies(of request: Request) -> Bool {
        request.parameters.cookies != nil || configuration.cookies?.sends ?? false
    }

    /// Stores the cookies of a response. Those of a proxy that asks for a credential are not the origin's.
    func storeCookies(of head: ResponseHead, to sent: TransportRequest, for request: Request) {
        guard let jar = jar(of: request, for: sent), head.status != 407, accepts(from: sent, of: request) else {
            return
        }
        jar.store(head.fields, from: CookieTarget(sent))
    }

    private func accepts(from sent: TransportRequest, of request: Request) -> Bool {
        guard request.parameters.cookies == nil else { return true }
        switch configuration.cookies?.accept {
        case .always: return true
        case .never, nil: return false
        case .sameSite:
            guard let first = request.attempts.last?.request else { return false }
            return CookieTarget(first.url).site == CookieTarget(sent.url).site
        }
    }

    /// The cookies that a request with these parameters would be sent with first.
    func cookies(for hop: TransportRequest, _ parameters: RequestParameters) -> [Cookie] {
        let own = parameters.cookies.map { CookieJar($0.cookies) }
        let common = configuration.cookies?.sends == true && hop.partition.addresses?.socket == nil ? cookieJar : nil
        guard let jar = own ?? common, !hop.fields.contains(where: { $0.isNamed("cookie") }) else { return [] }
        return jar.sent(to: CookieTarget(hop))
    }
}

extension Request {
    /// The cookies of the request's own jar, or their changes, for its record; `nil` if the request exports none.
    public var exportedCookies: [Cookie]? {
        guard let cookies = parameters.cookies, let export = cookies.export else { return nil }
        guard !cookies.isResult else { return cookies.cookies }
        guard export == .changes else { return (ownJar?.all() ?? cookies.cookies).filter { $0.origin == nil } }
        return ownJar?.changes(since: cookies.cookies) ?? []
    }

    /// The field `Cookie` that a jar has added to the last attempt's first hop; `nil` for none.
    public var sentCookies: HTTPField? { attempts.last?.hops.first?.fields?.cookie }

    /// Releases the own jar of a request that is over. What is exported stays, for the record.
    func releaseJar() {
        guard let cookies = parameters.cookies else { return }
        parameters.cookies = RequestCookies(exporting: exportedCookies ?? [], as: cookies.export)
        ownJar = nil
    }
}
