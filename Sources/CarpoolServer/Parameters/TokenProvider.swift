internal import CarpoolSession

/// What interceptors need to obtain tokens.
protocol TokenProvider: AnyObject {
    /// Returns an unused request id, for a token request.
    func makeRequestID() -> String
    /// The tokens that the requests of a user share.
    func tokens(of uid: UInt32) -> SharedTokens
}
