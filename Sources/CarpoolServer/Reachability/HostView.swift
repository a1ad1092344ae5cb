internal import CarpoolReachability

/// The state of one host: its addresses and their paths.
struct HostView {
    /// As the caller named it.
    let name: String
    /// The ways to its addresses, in the order in which a connection would try them.
    var addresses: [HostReachability] = []
    /// Why it has no addresses.
    var failure: NameResolver.Failure?
    /// How long the look-up of its name took.
    var lookupMilliseconds: Int?

    /// The address that a connection would succeed with first.
    var best: HostReachability? { addresses.first(where: \.canTry) ?? addresses.first }

    /// Whether packets to it can leave: unknown while its addresses are.
    var status: ReachabilityStatus {
        if let best { return best.status }
        return failure?.isAboutName == true ? .unsatisfied : .unknown
    }

    /// The status in Alamofire's terms.
    var modelStatus: ModelStatus {
        if let best { return best.modelStatus }
        return failure?.isAboutName == true ? .notReachable : .unknown
    }

    /// An address without the zone after it, and that zone.
    static func split(_ text: String) -> (address: IPAddress, zone: String?)? {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ IPAddress(String($0)) }) else { return nil }
        return (address, parts.count > 1 ? String(parts[1]) : nil)
    }
}
