import CarpoolSession

extension RedirectHandler {
    /// Follows this many hops.
    static func limited(to hops: Int) -> RedirectHandler {
        var handler = RedirectHandler.follow
        handler.maximumHops = hops
        return handler
    }
}
