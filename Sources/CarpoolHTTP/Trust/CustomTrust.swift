/// A caller that decides itself whether to trust a server. Equal only to itself and its copies of the same identity.
public final class CustomTrust: Hashable, Sendable {
    /// What the caller decides about.
    public struct Question: Sendable {
        /// The certificates that the server has sent (DER), its own first.
        public let chain: [[UInt8]]
        /// The host, an IPv6 address without brackets.
        public let host: String
        /// The port.
        public let port: UInt16
    }

    /// The caller's decision.
    public enum TrustAnswer: Sendable, Equatable {
        /// The server is trusted.
        case accept
        /// It is not, for this reason.
        case refuse(String)
    }

    /// Decides, at any later time, by calling the completion once. Both are called on the loop.
    public typealias Decision = @Sendable (Question, _ completion: @escaping (TrustAnswer) -> Void) -> Void

    /// Connections are shared by requests whose evaluators have the same identity.
    public let identity: String
    let decide: Decision

    /// Makes an evaluator that asks.
    public init(identity: String, decide: @escaping Decision) {
        self.identity = identity
        self.decide = decide
    }

    /// Whether the identities are equal.
    public static func == (a: CustomTrust, b: CustomTrust) -> Bool { a.identity == b.identity }

    /// The identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}
