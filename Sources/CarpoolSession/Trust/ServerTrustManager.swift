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
        for pattern in HostPattern.candidates(for: origin) {
            if let evaluator = evaluators[pattern] { return evaluator }
        }
        return allHostsMustBeEvaluated ? .missing : nil
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
