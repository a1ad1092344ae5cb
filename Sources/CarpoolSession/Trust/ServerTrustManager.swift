public import CarpoolHTTP

/// The evaluators of a session or a request, by host (TR-01, TR-02). Immutable; equal if the content is.
public final class ServerTrustManager: Hashable, Sendable {
    /// The evaluators.
    public let evaluators: [HostPattern: ServerTrustEvaluator]
    /// Whether a server for which there is no evaluator is refused with `no_required_evaluator`. Otherwise the standard
    /// check decides.
    public let allHostsMustBeEvaluated: Bool

    /// The most evaluators: more than a program that talks to many services needs, and few enough to be checked when
    /// they are given.
    public static let maximumEvaluators = 64

    /// Makes a manager; every host must have an evaluator, unless told otherwise.
    public init(evaluators: [HostPattern: ServerTrustEvaluator], allHostsMustBeEvaluated: Bool = true) {
        self.evaluators = evaluators
        self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
    }

    /// The evaluator for an origin; `nil` for the standard check. The name itself comes before a wildcard, a pattern
    /// with a port before one without, and `*` last.
    public func evaluator(for origin: Origin) -> ServerTrustEvaluator? {
        if let pattern = pattern(for: origin) { return evaluators[pattern] }
        return allHostsMustBeEvaluated ? .missing : nil
    }

    /// The pattern whose evaluator is used for an origin; `nil` if no pattern has it.
    public func pattern(for origin: Origin) -> HostPattern? {
        HostPattern.candidates(for: origin).first { evaluators[$0] != nil }
    }

    /// Whether evaluators and setting are equal.
    public static func == (a: ServerTrustManager, b: ServerTrustManager) -> Bool {
        a === b || a.allHostsMustBeEvaluated == b.allHostsMustBeEvaluated && a.evaluators == b.evaluators
    }

    /// Hashes all members.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(evaluators)
        hasher.combine(allHostsMustBeEvaluated)
    }
}
