internal import CarpoolHTTP

/// Takes the body of a response that is not kept with its request: a download, a stream. Each request that needs one has one for life.
protocol ResponseReceiver: AnyObject {
    /// Whether the body has to wait for something; ``Session/proceed(_:)`` is called when that is over.
    var isHoldingUp: Bool { get }
    /// Adds what it needs to the request of an attempt, before any adapter sees it.
    func prepare(_ urlRequest: inout TransportRequest, for request: Request)
    /// The head of a response whose body is wanted; never that of a redirect which is followed. A failure ends the attempt.
    func request(_ request: Request, didReceive head: ResponseHead) throws(SessionError)
    /// A piece of the body, valid during the call only. Whoever answers ``BodyDisposition/pause`` gets it again after ``Session/proceed(_:)``.
    func request(
        _ request: Request, didReceive bytes: UnsafeRawBufferPointer
    ) throws(SessionError) -> BodyDisposition
    /// The response has arrived, or will not. Gives whether its end may be told now; else ``Session/proceed(_:)`` has it asked again.
    func mayEnd(_ request: Request) -> Bool
    /// The task is over, and nothing more comes; the error is the transport's. Called before the validators.
    func request(_ request: Request, didEndTaskWith error: TransportError?) throws(SessionError)
    /// Whether ``settle(_:isWhole:completion:)`` has something to do.
    var mustSettle: Bool { get }
    /// The transfer has ended: what has come is to be written. Called before the metrics are told, which waits for the completion.
    /// - Parameter isWhole: whether the body is there as a whole; a failure to keep it is the request's.
    func settle(_ request: Request, isWhole: Bool, completion: @escaping () -> Void)
    /// No validator objects to the response.
    func requestDidPassValidation(_ request: Request, completion: @escaping (SessionError?) -> Void)
    /// The request is over but for its serializers.
    func requestWillFinish(_ request: Request, completion: @escaping () -> Void)
    /// Another attempt begins.
    func reset()
}

extension ResponseReceiver {
    /// Waits for nothing.
    var isHoldingUp: Bool { false }
    /// Needs nothing.
    func prepare(_ urlRequest: inout TransportRequest, for request: Request) {}
    /// Writes nothing.
    var mustSettle: Bool { false }
    /// Does nothing.
    func settle(_ request: Request, isWhole: Bool, completion: @escaping () -> Void) { completion() }
    /// Does nothing.
    func requestDidPassValidation(_ request: Request, completion: @escaping (SessionError?) -> Void) { completion(nil) }
    /// Does nothing.
    func requestWillFinish(_ request: Request, completion: @escaping () -> Void) { completion() }
    /// Most have nothing to wait for.
    func mayEnd(_ request: Request) -> Bool { true }
}
