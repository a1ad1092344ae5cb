internal import CarpoolHTTP

/// Takes the body of a response that is not kept with its request: a download, a stream. Each request that needs one has one for life.
protocol ResponseReceiver: AnyObject {
    /// The head of a response whose body is wanted; never that of a redirect which is followed. A failure ends the attempt.
    func request(_ request: Request, didReceive head: ResponseHead) throws(SessionError)
    /// A piece of the body, valid during the call only. Whoever answers ``BodyDisposition/pause`` gets it again after ``Session/goOn(_:)``.
    func request(
        _ request: Request, didReceive bytes: UnsafeRawBufferPointer
    ) throws(SessionError) -> BodyDisposition
    /// The task is over, and nothing more comes; the error is the transport's. Called before the validators.
    func request(_ request: Request, didEndTaskWith error: TransportError?) throws(SessionError)
    /// Another attempt begins.
    func reset()
}
