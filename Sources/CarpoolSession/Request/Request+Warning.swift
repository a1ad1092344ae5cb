internal import CarpoolHTTP

// Warnings about settings that are valid but probably a mistake.
extension Request {
    /// A warning for the request's owner, about a request that did not fail, or has failed by its status; `nil` for
    /// none.
    public var warning: String? { undecodedWarning ?? policyWarning ?? credentialWarning }

    /// The warning that the server offers no scheme for a credential: whether the password was sent, and why it is of
    /// no use.
    private var credentialWarning: String? {
        guard error?.isUnacceptableStatus ?? true, let authentication, !authentication.unusedOffers.isEmpty,
            let server = response.flatMap({ ChallengingServer(status: $0.status) })
        else { return nil }
        let sent = authentication[server].sent.answer
        let beginning =
            switch sent {
            case .basic?: "user and password were sent as basic;"
            case .digest?: "the credential was used with digest;"
            case nil: "the credential was not used:"
            }
        let allowed = sent?.credential.schemes ?? allowedSchemes(at: server)
        let isNotAllowed = authentication.unusedOffers.contains { offer in
            Request.scheme(ofOffer: offer).map { !allowed.contains($0) } ?? false
        }
        let reason =
            isNotAllowed
            ? "which the credential's schemes do not allow"
            : "and of these the credential allows none that is supported (basic, digest)"
        let offers = authentication.unusedOffers.map(SessionError.beginning).joined(separator: ", ")
        return "\(beginning) the \(server == .proxy ? "proxy" : "server") offers \(offers), \(reason)"
    }

    /// The schemes of the credential for a server that was not sent.
    private func allowedSchemes(at server: ChallengingServer) -> Set<PasswordCredential.Scheme> {
        guard let sent = urlRequest else { return [] }
        guard server == .origin else {
            let names = sent.partition.proxy?.schemes.map(\.rawValue) ?? []
            return Set(names.compactMap(PasswordCredential.Scheme.init))
        }
        let origin = sent.url.origin
        let credential = parameters.credential(for: origin) ?? session.credentials.all(for: origin).first?.credential
        return credential?.schemes ?? []
    }

    /// The scheme of a server's offer; `nil` if it is not supported.
    private static func scheme(ofOffer offer: String) -> PasswordCredential.Scheme? {
        guard offer.hasPrefix("digest with ") else { return PasswordCredential.Scheme(rawValue: offer) }
        return DigestAlgorithm(name: String(offer.dropFirst("digest with ".count))).map { _ in .digest }
    }

    /// The warning that a body which was to be decoded is delivered still encoded.
    private var undecodedWarning: String? {
        guard error == nil, let response, body.count > 0,
            let obstacle = ContentCoding.obstacle(in: response), urlRequest?.decodes(response.fields) == true
        else { return nil }
        let reason =
            switch obstacle {
            case .unknown(let codings): "its Content-Encoding is unknown: \(SessionError.beginning(of: codings))"
            case .tooMany: "it has more than \(ContentCoding.maximumCount) codings in its Content-Encoding"
            }
        return "the body was not decoded, because \(reason)"
    }

    /// The warning that the retry policy is never asked, because no validator turns its statuses into
    /// failures.
    private var policyWarning: String? {
        guard error == nil, let status = response?.status, status >= 400,
            parameters.options.validators.value.isEmpty,
            session.interceptors(of: self).contains(where: { $0.retriedStatuses.contains(status) })
        else { return nil }
        return "the retry policy was not applied: without validation a response with status \(status) is not a failure"
    }
}
