internal import CarpoolHTTP

// What is allowed, and hardly meant.
extension Request {
    /// What its holder should know though nothing has failed: a retry policy that is never asked, because nobody has said that such a response is
    /// a failure.
    public var warning: String? {
        guard error == nil, let status = response?.status, status >= 400,
            (parameters.validators ?? session.configuration.validators).isEmpty,
            session.interceptors(of: self).contains(where: {
                ($0 as? Interceptor)?.retriedStatuses.contains(status) ?? false
            })
        else { return nil }
        return "the retry policy was not asked: without validation a response with status \(status) is no failure"
    }
}
