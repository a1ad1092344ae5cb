internal import CarpoolSystem

/// Transfers that have ended while libcurl looked up their hosts. The look-up goes on in a thread until the resolver answers or gives up, half a
/// minute later if the name server is silent; until then it keeps the transfer's place among the connections, so that look-ups have the same
/// limits, of each client and in sum.
struct AbandonedLookups {
    struct Lookup {
        let host: String
        let slot: AdmissionSlot
        let turns: Int
        let pool: OriginPool
    }

    var all: [Lookup] = []
    /// Looks whether they have ended; made when first needed.
    var timer: Timer?
}
