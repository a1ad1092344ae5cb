/// Notices that libcurl is being called over and over without anything coming of it, and says how long to leave it alone.
///
/// Both supported versions have states in which a socket or a timer is ready for ever and nothing moves: one core would be lost for
/// as long as they last. One governor watches one source of calls.
struct BusyLoopGuard {
    /// Calls without progress that are let pass: a TLS record of 16 KiB may come in a dozen pieces, a handshake in a few.
    private static let toleratedCalls = 64
    /// The longest rest in milliseconds: short enough not to be felt, long enough to cost almost nothing.
    private static let longestDelay = 20

    private var callsWithoutProgress = 0

    /// Notes one call, and whether anything moved. Gives how many milliseconds to rest before the next one; 0 for none.
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
