public import CarpoolHTTP

/// What a response to an unsafe request makes invalid.
public struct CacheInvalidation {
    /// The URLs all of whose variants must not be used without validation any more.
    public var urls: [HTTPURL] = []
    /// The origin all of whose responses are removed; `nil` for none.
    public var origin: Origin?

    /// Whether nothing is invalid.
    public var isEmpty: Bool { urls.isEmpty && origin == nil }
}
