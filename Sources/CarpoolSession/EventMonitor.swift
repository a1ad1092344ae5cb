public import CarpoolHTTP

/// Whoever watches requests: one method for each step, all called on the session's loop, in the order in which the steps happen.
/// A monitor implements the steps that it cares for.
public protocol EventMonitor: AnyObject {
    /// The session takes no more requests, and the last one is over (EM-01).
    func sessionDidBecomeInvalid(_ session: Session)
    /// The head of the final response is there (EM-09); those that redirect are told by the next one alone.
    func request(_ request: Request, taskDidReceive response: ResponseHead)
    /// So many bytes of the final response's body have arrived (EM-10).
    func request(_ request: Request, taskDidReceiveBytes count: Int)
    /// The origin redirects, whether or not the request follows (EM-05).
    func request(_ request: Request, taskWillRedirectTo url: HTTPURL)
    /// So many bytes of the request's body were sent (EM-03).
    func request(_ request: Request, taskDidSendBodyBytes count: Int)
    /// A hop's metrics are known (EM-06).
    func request(_ request: Request, taskDidCollect metrics: TransferMetrics)
    /// The last hop is over (EM-07).
    func request(_ request: Request, taskDidCompleteWith error: TransportError?)
    /// The first request to send is made from the parameters (EM-15).
    func requestDidCreateInitialURLRequest(_ request: Request)
    /// The parameters make no request (EM-16).
    func request(_ request: Request, didFailToCreateURLRequestWith error: SessionError)
    /// The request to send is final (EM-19).
    func requestDidCreateURLRequest(_ request: Request)
    /// The request was given to the transport (EM-20).
    func requestDidCreateTask(_ request: Request)
    /// Metrics of the task are part of the record (EM-21).
    func request(_ request: Request, didGather metrics: TransferMetrics)
    /// The task is over; the error is the network's alone (EM-23).
    func request(_ request: Request, didCompleteTaskWith error: TransportError?)
    /// The request is over; its record is complete (EM-25).
    func requestDidFinish(_ request: Request)
    /// Somebody resumed the request (EM-26), and its task (EM-27).
    func requestDidResume(_ request: Request)
    /// The task goes (EM-27).
    func requestDidResumeTask(_ request: Request)
    /// Somebody cancelled the request (EM-30).
    func requestDidCancel(_ request: Request)
    /// The task was told (EM-31).
    func requestDidCancelTask(_ request: Request)
}

extension EventMonitor {
    /// Does nothing, as every step that a monitor leaves out.
    public func sessionDidBecomeInvalid(_ session: Session) {}
    /// Does nothing.
    public func request(_ request: Request, taskDidReceive response: ResponseHead) {}
    /// Does nothing.
    public func request(_ request: Request, taskDidReceiveBytes count: Int) {}
    /// Does nothing.
    public func request(_ request: Request, taskWillRedirectTo url: HTTPURL) {}
    /// Does nothing.
    public func request(_ request: Request, taskDidSendBodyBytes count: Int) {}
    /// Does nothing.
    public func request(_ request: Request, taskDidCollect metrics: TransferMetrics) {}
    /// Does nothing.
    public func request(_ request: Request, taskDidCompleteWith error: TransportError?) {}
    /// Does nothing.
    public func requestDidCreateInitialURLRequest(_ request: Request) {}
    /// Does nothing.
    public func request(_ request: Request, didFailToCreateURLRequestWith error: SessionError) {}
    /// Does nothing.
    public func requestDidCreateURLRequest(_ request: Request) {}
    /// Does nothing.
    public func requestDidCreateTask(_ request: Request) {}
    /// Does nothing.
    public func request(_ request: Request, didGather metrics: TransferMetrics) {}
    /// Does nothing.
    public func request(_ request: Request, didCompleteTaskWith error: TransportError?) {}
    /// Does nothing.
    public func requestDidFinish(_ request: Request) {}
    /// Does nothing.
    public func requestDidResume(_ request: Request) {}
    /// Does nothing.
    public func requestDidResumeTask(_ request: Request) {}
    /// Does nothing.
    public func requestDidCancel(_ request: Request) {}
    /// Does nothing.
    public func requestDidCancelTask(_ request: Request) {}
}
