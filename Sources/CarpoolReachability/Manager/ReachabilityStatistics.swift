/// Statistics of a ``NetworkReachabilityManager``.
public struct ReachabilityStatistics: Equatable, Sendable {
    /// The source of the state.
    public enum Source: String, Sendable {
        /// The kernel's messages.
        case rtnetlink
        /// Periodic evaluations, because rtnetlink is forbidden.
        case poll
        /// The configuration.
        case override
        /// None yet.
        case none
    }

    /// The source of the state.
    public internal(set) var source = Source.none
    /// Datagrams received from the kernel.
    public internal(set) var datagrams = 0
    /// Evaluations of the network.
    public internal(set) var evaluations = 0
    /// Evaluations with a reportable change.
    public internal(set) var changes = 0
    /// The number of times that messages were dropped.
    public internal(set) var resyncs = 0
    /// Evaluations that failed; the previous state is kept.
    public internal(set) var failures = 0
}
