internal import CarpoolHTTP

// What interceptors ask of a request that is being sent.
extension Request {
    /// How often it was sent again.
    var retriesSoFar: Int { max(0, attempts.count - 1) }
    /// The request that was made last, adapted.
    var lastURLRequest: TransportRequest? { current }
}
