internal import CarpoolSystem

/// What the transport was told of the machine's network, and what follows from it for connections. A value that decides.
struct NetworkChangeState {
    /// Addresses that the machine had and has no more, as far as connections use them.
    private(set) var lost: Set<String> = []
    /// The addresses that it has; `nil` before anybody has said.
    private var present: Set<String>?
    /// When the addresses behind names were last put in doubt.
    private var dnsExpiry: MonotonicTime?
    /// The one family to connect over, if the other is of no use; `nil` for any.
    private(set) var onlyFamily: AddressFamilies?

    /// How long libcurl remembers what a name stands for, in seconds: its own default.
    private static let dnsCacheSeconds = 60

    /// Takes the addresses that the machine has now. An address that nobody has named before is never gone: routes can make others local.
    mutating func change(to addresses: Set<String>) {
        if let present { lost.formUnion(present) }
        lost.subtract(addresses)
        present = addresses
    }

    /// Forgets gone addresses that no connection has.
    mutating func keep(where isUsed: (String) -> Bool) { lost = lost.filter(isUsed) }

    /// Takes the families over which anything can leave. With neither, both are as good: whoever asks for a request shall hear from the
    /// kernel that it cannot go.
    mutating func use(_ families: AddressFamilies) {
        onlyFamily = families == .ipv4 || families == .ipv6 ? families : nil
    }

    mutating func expireDNSCache(at now: MonotonicTime) { dnsExpiry = now }

    /// How old what a name stands for may be, in seconds: not from before the doubt. `nil` for as old as ever.
    func dnsCacheSeconds(at now: MonotonicTime) -> Int? {
        guard let dnsExpiry else { return nil }
        let seconds = now.microseconds(since: dnsExpiry) / 1_000_000
        return seconds < NetworkChangeState.dnsCacheSeconds ? seconds : nil
    }
}
