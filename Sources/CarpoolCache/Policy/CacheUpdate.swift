/// What a 304 to a validation has done.
public struct CacheUpdate: Sendable {
    /// The index of the variant that is valid.
    public var index: Int
    /// What it is from now on; its body stays. `nil` if it must not be kept any more: the 304 has `no-store`.
    public var response: CachedResponse?
    /// What the caller gets.
    public var answer: CacheAnswer
}
