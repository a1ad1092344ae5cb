internal import CarpoolHTTP

// What is allowed, and hardly meant.
extension Request {
    /// What its holder should know though nothing has failed.
    public var warning: String? { undecodedWarning ?? policyWarning }

    /// A body that was to be decoded, and is handed over as it came.
    private var undecodedWarning: String? {
        guard error == nil, let response, body.count > 0,
            let coding = ContentCoding.unknown(in: response), urlRequest?.isDecoded == true
        else { return nil }
        return "the body is as it came: its Content-Encoding is not known: \(SessionError.beginning(of: coding))"
    }

    /// A retry policy that is never asked, because nobody has said that such a response is
    /// a failure.
    private var policyWarning: String? {
        guard error == nil, let status = response?.status, status >= 400,
            parameters.options.validators.value.isEmpty,
            session.interceptors(of: self).contains(where: {
                ($0 as? Interceptor)?.retriedStatuses.contains(status) ?? false
            })
        else { return nil }
        return "the retry policy was not asked: without validation a response with status \(status) is no failure"
    }
}
