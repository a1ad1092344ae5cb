/// Counts the requests that servers cause within one call, beside the first one: redirects, answers to challenges of
/// the origin and of a proxy, repeats after other responses (417, a range that does not fit), and retries with a new
/// credential. Together they have one maximum, so that servers that ask in turn cannot keep a call running.
///
/// A retry that a policy or a client decides begins a new budget: its number is limited by what the caller has set.
struct HopBudget: Equatable {
    /// The most redirects for which the smallest budget has room: the default of `max_hops`.
    private static let usualRedirects = 16
    /// The most requests beside the first one and its redirects. An honest server can need 17: each of the 17 URLs that
    /// 16 redirects connect may send one challenge. The others are for proxies and for nonces that were too old.
    private static let repeats = 23

    /// How many requests were caused.
    private(set) var used = 0

    /// The most requests in sum, with the first one, for a maximum of redirects: 40 unless the caller has raised that.
    static func maximum(redirects: Int) -> Int { 1 + max(usualRedirects, redirects) + repeats }

    /// Counts requests that follow. Throws if that exceeds the maximum.
    mutating func use(_ count: Int = 1, maximumRedirects: Int) throws(SessionError) {
        let maximum = HopBudget.maximum(redirects: maximumRedirects)
        guard used + count < maximum else { throw .tooManyHops(maximum) }
        used += count
    }
}

extension SessionError {
    /// Servers have caused more requests within one call than are allowed.
    static func tooManyHops(_ limit: Int) -> SessionError {
        SessionError(
            "session_task_failed.too_many_hops",
            "the servers have caused \(limit) requests by redirects, challenges and other responses that ask for another request, which is the maximum of one call",
            hint:
                "the hops of the record show which server asks each time: check the credential for it (credential, credentials, proxy)",
            details: [Detail("limit", .integer(limit))])
    }
}
