/// Counts the requests that servers cause within one call, beside the first one: redirects, answers to challenges of
/// the origin and of a proxy, repeats after other responses (417, a range that does not fit), and retries with a new
/// credential. Together they have one maximum, so that servers that ask in turn cannot keep a call running.
///
/// A retry that a policy or a client decides begins a new budget: its number is limited by what the caller has set.
struct HopBudget {
    /// The most redirects for which the smallest budget has room: the default of `max_hops`.
    private static let usualRedirects = 16
    /// The most requests beside the first one and its redirects. An honest server can need 16, which is the maximum of
    /// answered challenges. The others are for repeats and refreshes.
    private static let repeats = 23

    /// Why a server causes a request.
    enum Cause {
        case redirect
        case challenge
        case `repeat`
        /// A refresh of a credential, and the retry with it.
        case refresh

        /// The cause of the hop after a response with this status.
        init(status: Int?) {
            switch status {
            case .some(300..<400): self = .redirect
            case 401, 407: self = .challenge
            default: self = .repeat
            }
        }
    }

    /// In few bytes, since every request has them.
    private var counts: (redirects: UInt16, challenges: UInt16, repeats: UInt16, refreshes: UInt16) = (0, 0, 0, 0)

    /// How many requests redirects have caused.
    var redirects: Int { Int(counts.redirects) }
    /// How many requests answered challenges.
    var challenges: Int { Int(counts.challenges) }
    /// How many requests were sent again after other responses.
    var repeats: Int { Int(counts.repeats) }
    /// How many requests new credentials have caused: each refresh, and the retry with it.
    var refreshes: Int { Int(counts.refreshes) }
    /// How many requests were caused.
    var used: Int { redirects + challenges + repeats + refreshes }

    /// The most requests in sum, with the first one, for a maximum of redirects: 40 unless the caller has raised that.
    static func maximum(redirects: Int) -> Int { 1 + max(usualRedirects, redirects) + repeats }

    /// Counts the requests that follow. Throws if they exceed the maximum.
    mutating func use(_ cause: Cause, maximumRedirects: Int) throws(SessionError) {
        let count: UInt16 = cause == .refresh ? 2 : 1
        let maximum = HopBudget.maximum(redirects: maximumRedirects)
        guard used + Int(count) < maximum else { throw .tooManyHops(maximum, self) }
        switch cause {
        case .redirect: counts.redirects += count
        case .challenge: counts.challenges += count
        case .repeat: counts.repeats += count
        case .refresh: counts.refreshes += count
        }
    }
}

extension SessionError {
    static let tooManyHopsHint =
        "the hops of the record show which server asks each time: check the credential for it (credential, credentials, proxy)"

    /// Servers have caused more requests within one call than are allowed.
    static func tooManyHops(_ limit: Int, _ budget: HopBudget) -> SessionError {
        SessionError(
            "session_task_failed.too_many_hops",
            "the servers have caused \(limit) requests by redirects, challenges and other responses that ask for another request, which is the maximum of one call",
            hint: tooManyHopsHint,
            details: [
                Detail("limit", .integer(limit)), Detail("redirects", .integer(budget.redirects)),
                Detail("challenges", .integer(budget.challenges)), Detail("repeats", .integer(budget.repeats)),
                Detail("refreshes", .integer(budget.refreshes)),
            ])
    }
}
