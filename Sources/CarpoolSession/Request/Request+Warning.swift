internal import CarpoolHTTP

// Warnings about settings that are valid but probably a mistake.
extension Request {
    /// A warning for the request's owner, about a request that did not fail; `nil` for none.
    public var warning: String? { undecodedWarning ?? policyWarning ?? credentialWarning }

    /// The warning that a credential was not used, because the server offers no scheme for it.
    private var credentialWarning: String? {
        guard error == nil, let offers = authentication?.unusedOffers, !offers.isEmpty,
            response?.status == 401 || response?.status == 407
        else { return nil }
        let text = offers.map(SessionError.beginning).joined(separator: ", ")
        return
            "the credential was not used: the server offers \(text), and of these the credential allows none that is supported (basic, digest)"
    }

    /// The warning that a body which was to be decoded is delivered still encoded.
    private var undecodedWarning: String? {
        guard error == nil, let response, body.count > 0,
            let coding = ContentCoding.unknown(in: response), urlRequest?.isDecoded == true
        else { return nil }
        return
            "the body was not decoded, because its Content-Encoding is unknown: \(SessionError.beginning(of: coding))"
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
