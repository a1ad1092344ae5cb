/// What a ``NetworkReachabilityManager`` has done so far.
public struct ReachabilityStatistics: Equatable, Sendable {
    /// Where it gets its knowledge from.
    public enum Source: String, Sendable {
        /// The kernel's messages.
        case rtnetlink
        /// Looks from time to time, because those are forbidden.
        case poll
        /// The configuration.
        case override
        /// Nowhere yet.
        case none
    }

    /// Where it gets its knowledge from.
    public internal(set) var source = Source.none
    /// Datagrams that the kernel has sent.
    public internal(set) var datagrams = 0
    /// Looks at the whole state.
    public internal(set) var evaluations = 0
    /// Looks that gave something worth telling.
    public internal(set) var changes = 0
    /// Times that the kernel had to throw messages away.
    public internal(set) var resyncs = 0
    /// Looks that failed; the state before them stays in force.
    public internal(set) var failures = 0
}
