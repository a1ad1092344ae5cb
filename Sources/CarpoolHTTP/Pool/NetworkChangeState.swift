internal import CarpoolSystem

/// The addresses and address families of the machine, and what follows from their changes for connections. A value.
struct NetworkChangeState {
    /// Addresses that the machine has lost, as far as connections use them.
    private(set) var lost: Set<String> = []
    /// The current addresses; `nil` before the first update.
    private var present: Set<String>?
    /// When the DNS cache was last expired.
    private var dnsExpiry: MonotonicTime?
    /// The only usable address family; `nil` for any.
    private(set) var onlyFamily: AddressFamilies?

    /// The time for which libcurl caches the addresses of a name, in seconds: its default.
    private static let dnsCacheSeconds = 60

    /// Updates the machine's addresses. An address that was never present is not lost: routes can make others local.
    mutating func change(to addresses: Set<String>) {
        if let present { lost.formUnion(present) }
        lost.subtract(addresses)
        present = addresses
    }

    /// Forgets lost addresses that no connection has.
    mutating func keep(where isUsed: (String) -> Bool) { lost = lost.filter(isUsed) }

    /// Updates the usable address families. If neither family is usable, both are tried, so that the kernel's connect
    /// error is reported.
    mutating func use(_ families: AddressFamilies) {
        onlyFamily = families == .ipv4 || families == .ipv6 ? families : nil
    }

    mutating func expireDNSCache(at now: MonotonicTime) { dnsExpiry = now }

    /// The maximum age of cached addresses, in seconds; `nil` for libcurl's default.
    func dnsCacheSeconds(at now: MonotonicTime) -> Int? {
        guard let dnsExpiry else { return nil }
        let seconds = now.microseconds(since: dnsExpiry) / 1_000_000
        return seconds < NetworkChangeState.dnsCacheSeconds ? seconds : nil
    }
}
