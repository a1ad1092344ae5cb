internal import CarpoolSystem

/// Host look-ups whose transfers have ended. The look-up continues in a thread until the resolver answers or times out,
/// half a minute later if the name server is silent; until then it keeps the transfer's slot, so that look-ups have the
/// same limits, per client and in total.
struct AbandonedLookups {
    struct Lookup {
        let host: String
        let slot: AdmissionSlot
        let turns: Int
        let pool: OriginPool
    }

    var all: [Lookup] = []
    /// Checks whether they have ended; created when first needed.
    var timer: Timer?
}
