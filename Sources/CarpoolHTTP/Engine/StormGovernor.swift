/// Notices that libcurl is being called over and over without anything coming of it, and says how long to leave it alone.
///
/// Both supported versions have states in which a socket or a timer is ready for ever and nothing moves: one core would be lost for
/// as long as they last. One governor watches one source of calls.
struct StormGovernor {
    /// Calls without progress that are let pass: a TLS record of 16 KiB may come in a dozen pieces, a handshake in a few.
    private static let patience = 64
    /// The longest rest in milliseconds: short enough not to be felt, long enough to cost almost nothing.
    private static let longestRest = 20

    private var fruitless = 0

    /// Notes one call, and whether anything moved. Gives how many milliseconds to rest before the next one; 0 for none.
    mutating func acted(hasProgressed: Bool) -> Int {
        if hasProgressed {
            fruitless = 0
            return 0
        }
        fruitless = min(fruitless + 1, StormGovernor.patience + StormGovernor.longestRest)
        let excess = fruitless - StormGovernor.patience
        return excess <= 0 ? 0 : min(excess, StormGovernor.longestRest)
    }
}
