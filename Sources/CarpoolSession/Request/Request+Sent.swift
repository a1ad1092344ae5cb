internal import CarpoolHTTP

// The sent request, as validators and serializers need it: as it was built, before redirects changed it (RL-20).
extension Request {
    /// The method of the last request that was built.
    var sentMethod: HTTPMethod { urlRequest?.method ?? parameters.method }

    /// The values of a field of the last request that was built, joined as RFC 9110, section 5.3 allows; `nil` if it
    /// had none.
    func sentValue(of name: StaticString) -> String? {
        let fields = urlRequest?.fields ?? parameters.fields
        guard let first = fields.firstIndex(where: { $0.isNamed(name) }) else { return nil }
        return fields[first...].filter { $0.isNamed(name) }.map(\.value).joined(separator: ", ")
    }

    /// Whether the last hop carried the `Authorization` of the request: a redirect to another origin removes it.
    var wasAuthorizedToTheEnd: Bool {
        guard let hops = attempts.last?.hops, let first = hops.first else { return false }
        switch parameters.options.redirect.value.authorization {
        case .never: return attempts.last?.redirects == 0
        case .sameOrigin: return hops.allSatisfy { $0.url.origin == first.url.origin }
        case .always: return true
        }
    }

    /// The fields of a request that was made, as clients see them, also the one that made it: without the values that
    /// the session hides, and without a token that no client knows.
    public func shown(_ fields: [HTTPField]) -> [HTTPField] {
        let fields = session.configuration.shown(fields)
        let hides =
            session.commonInterceptor(of: self)?.hidesAuthorization ?? false
            || parameters.interceptor?.hidesAuthorization ?? false
        guard hides else { return fields }
        return SessionConfiguration.hiding(["authorization"], in: fields)
    }

    /// Whether the adapters, or the creation of the body, have not finished yet.
    public var isBeingPrepared: Bool {
        [.adapting, .creatingBody].contains(machine.state)
    }
}
