public import CarpoolHTTP

/// The rules of a cache (RFC 9111): what to do with a request, with a response, with a failure. A value without I/O and
/// without a clock.
///
/// `variants` are everything that is stored for the key of the request. The order does not matter, but the indices of
/// an answer count in the list that was passed: what hears of the response is passed the list of the request.
public struct CachePolicy: Sendable {
    /// The settings of the store.
    public let settings: CacheSettings

    /// The rules of a store with these settings.
    public init(settings: CacheSettings) { self.settings = settings }
}
