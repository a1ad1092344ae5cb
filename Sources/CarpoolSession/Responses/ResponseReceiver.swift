internal import CarpoolHTTP

/// Receives the body of a response that is not kept with its request: a download, a stream. A request keeps its
/// receiver for life.
protocol ResponseReceiver: AnyObject {
    /// Whether the body has to wait; ``Session/proceed(_:)`` is called when it may continue.
    var isWaiting: Bool { get }
    /// Adds what the receiver needs to the request of an attempt, before the adapters run.
    func prepare(_ urlRequest: inout TransportRequest, for request: Request)
    /// The head of a response whose body is wanted; never that of a followed redirect. A failure ends the attempt.
    func request(_ request: Request, didReceive head: ResponseHead) throws(SessionError)
    /// A piece of the body, valid during the call only. After ``BodyDisposition/pause`` it is delivered again when
    /// ``Session/proceed(_:)`` is called.
    func request(
        _ request: Request, didReceive bytes: UnsafeRawBufferPointer
    ) throws(SessionError) -> BodyDisposition
    /// The response has ended. Returns whether the end may be announced now; otherwise it is asked again after
    /// ``Session/proceed(_:)``.
    func canEnd(_ request: Request) -> Bool
    /// The task is over, and nothing more arrives; the error is the transport's. Called before the validators.
    func request(_ request: Request, didEndTaskWith error: TransportError?) throws(SessionError)
    /// Whether ``settle(_:isWhole:completion:)`` has something to do.
    var mustSettle: Bool { get }
    /// Whether ``settle(_:isWhole:completion:)`` may have to wait for a reader, during which the time of the request
    /// runs.
    var waitsForReader: Bool { get }
    /// The transfer has ended: writes what has arrived. Called before the event of the metrics, which waits for the
    /// completion.
    /// - Parameter isWhole: whether the body is complete; then a failure to write it fails the request.
    func settle(_ request: Request, isWhole: Bool, completion: @escaping () -> Void)
    /// All validators have accepted the response.
    func requestDidPassValidation(_ request: Request, completion: @escaping (SessionError?) -> Void)
    /// The request is over except for its serializers.
    func requestWillFinish(_ request: Request, completion: @escaping () -> Void)
    /// A call cancelled the request. A download keeps its partial file only if it can be resumed from it.
    func requestDidCancel(keepingPartialFile: Bool)
    /// Whether the request cannot be sent again, because a part of the body has left the session.
    var isFinal: Bool { get }
    /// Another attempt begins.
    func reset()
}

extension ResponseReceiver {
    /// The default: never waits.
    var isWaiting: Bool { false }
    /// The default: nothing has left the session.
    var isFinal: Bool { false }
    /// The default: changes nothing.
    func prepare(_ urlRequest: inout TransportRequest, for request: Request) {}
    /// The default: writes nothing.
    var mustSettle: Bool { false }
    /// The default: waits for no reader.
    var waitsForReader: Bool { false }
    /// The transfer has ended: writes what has arrived. The default does nothing.
    func settle(_ request: Request, isWhole: Bool, completion: @escaping () -> Void) { completion() }
    /// All validators have accepted the response. The default does nothing.
    func requestDidPassValidation(_ request: Request, completion: @escaping (SessionError?) -> Void) { completion(nil) }
    /// The request is over except for its serializers. The default does nothing.
    func requestWillFinish(_ request: Request, completion: @escaping () -> Void) { completion() }
    /// The default: does not wait.
    func canEnd(_ request: Request) -> Bool { true }
    /// A call cancelled the request. The default does nothing.
    func requestDidCancel(keepingPartialFile: Bool) {}
}
