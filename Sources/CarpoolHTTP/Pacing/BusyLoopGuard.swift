/// Detects that libcurl is called over and over without progress, and returns how long to pause its calls.
///
/// Both supported versions have states in which a socket or a timer is ready without end and nothing moves, which
/// would use a whole core. One guard watches one source of calls.
struct BusyLoopGuard {
    /// Calls without progress that are tolerated: a TLS record of 16 KiB may arrive in a dozen pieces, a handshake in
    /// a few.
    private static let toleratedCalls = 64
    /// The longest delay in milliseconds: short enough not to be noticed, long enough to cost almost nothing.
    private static let longestDelay = 20

    private var callsWithoutProgress = 0

    /// Records a call and whether it made progress. Returns the delay before the next call in milliseconds; 0 for
    /// none.
    mutating func delayAfterCall(hasProgressed: Bool) -> Int {
        if hasProgressed {
            callsWithoutProgress = 0
            return 0
        }
        callsWithoutProgress = min(callsWithoutProgress + 1, BusyLoopGuard.toleratedCalls + BusyLoopGuard.longestDelay)
        let excess = callsWithoutProgress - BusyLoopGuard.toleratedCalls
        return excess <= 0 ? 0 : min(excess, BusyLoopGuard.longestDelay)
    }
}
