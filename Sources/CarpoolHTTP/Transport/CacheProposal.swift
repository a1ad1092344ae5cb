/// A response that is about to be stored, for a delegate that decides about it. One that ends without a decision is not
/// stored.
public final class CacheProposal {
    /// Where a response is stored.
    public enum Storage: String, Sendable, CaseIterable {
        /// In memory.
        case memory
        /// On disk, and in memory.
        case disk
    }

    /// What a delegate decides.
    public enum Decision {
        /// The response is stored as it is.
        case store
        /// It is not stored.
        case doNotStore
        /// It is stored with changes; `nil` keeps what is proposed.
        case modify(
            setting: [HTTPField] = [], removing: [String] = [], body: [UInt8]? = nil, ttlMilliseconds: Int? = nil,
            storage: Storage? = nil)
    }

    /// The head that would be stored.
    public let head: ResponseHead
    /// The bytes of the body.
    public let body: [UInt8]
    /// The freshness in milliseconds; `nil` for none, so that it is used after validation alone.
    public let ttlMilliseconds: Int?
    /// Where it would be stored.
    public let storage: Storage
    private var carryOut: ((Decision) -> Void)?

    /// Makes a proposal.
    /// - Parameter carryOut: called with the decision, at most once.
    public init(
        head: ResponseHead, body: [UInt8], ttlMilliseconds: Int?, storage: Storage,
        carryOut: @escaping (Decision) -> Void
    ) {
        self.head = head
        self.body = body
        self.ttlMilliseconds = ttlMilliseconds
        self.storage = storage
        self.carryOut = carryOut
    }

    deinit { carryOut?(.doNotStore) }

    /// Decides; only the first decision counts.
    public func decide(_ decision: Decision) {
        carryOut?(decision)
        carryOut = nil
    }
}
