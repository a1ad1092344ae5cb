public import CarpoolHTTP

/// Observes requests: ``receive(_:of:)`` is called for every event, on the session's loop, in the order in which the
/// steps happen. Its default calls the method of the event; a monitor implements the methods that it needs, or
/// ``receive(_:of:)`` itself.
public protocol EventMonitor: AnyObject {
    /// Receives an event of a request.
    func receive(_ event: SessionEvent, of request: Request)
    /// The session takes no more requests, and the last one is over (EM-01).
    func sessionDidBecomeInvalid(_ session: Session)
    /// There is no path to the host, and the task waits for one (EM-08); at most once a task.
    func request(_ request: Request, taskIsWaitingForConnectivity path: NetworkPath)
    /// A server requests credentials, or has presented its certificate (EM-02).
    func request(_ request: Request, taskDidReceive challenge: AuthenticationChallenge)
    /// The head of the final response has arrived (EM-09); not called for redirects.
    func request(_ request: Request, taskDidReceive response: ResponseHead)
    /// So many bytes of the final response's body have arrived (EM-10).
    func request(_ request: Request, taskDidReceiveBytes count: Int)
    /// The origin redirects, whether or not the request follows (EM-05).
    func request(_ request: Request, taskWillRedirectTo url: HTTPURL)
    /// So many bytes of the request's body were sent (EM-03).
    func request(_ request: Request, taskDidSendBodyBytes count: Int, progress: UploadProgress)
    /// The body of an upload was created (EM-37).
    func request(_ request: Request, didCreateUploadable upload: CreatedUpload)
    /// The body of an upload could not be created (EM-38).
    func request(_ request: Request, didFailToCreateUploadableWith error: SessionError)
    /// A hop begins to read a streamed body (EM-04).
    func requestTaskNeedsNewBodyStream(_ request: Request)
    /// A streamed body is ready to be read (EM-39).
    func requestDidProvideInputStream(_ request: Request)
    /// Progress of an upload: the first and the last step, throttled between.
    func request(_ request: Request, didUpload progress: UploadProgress)
    /// The metrics of all hops of a task are known (EM-06).
    func request(_ request: Request, taskDidCollectMetricsOf hops: [Hop])
    /// A piece of a download was written to its file; with the written size, and the whole size if it is known (EM-13).
    func request(_ request: Request, taskDidWrite count: Int, completed: Int64, total: Int64?)
    /// A download resumes at this byte (EM-12).
    func request(_ request: Request, taskDidResumeAt offset: Int64, total: Int64?)
    /// All of a download is in its partial file (EM-14).
    func request(_ request: Request, taskDidFinishDownloadingTo path: String)
    /// The response is about to be stored (EM-11). The session's handler decides about it; a monitor must not.
    func request(_ request: Request, taskWillCache proposal: CacheProposal)
    /// A download is about to get its final name (EM-41).
    func request(_ request: Request, didCreateDestination path: String)
    /// A download was moved to its final name, or the move failed (EM-40).
    func request(_ request: Request, didFinishDownloading result: Result<String, SessionError>)
    /// Progress of a body: throttled, and at the end. For requests that are not downloads only if it takes long.
    func request(_ request: Request, didProgressTo completed: Int64, total: Int64?)
    /// The last hop is over (EM-07).
    func request(_ request: Request, taskDidCompleteWith error: TransportError?)
    /// The first request to send is made from the parameters (EM-15).
    func requestDidCreateInitialURLRequest(_ request: Request)
    /// The parameters make no valid request (EM-16).
    func request(_ request: Request, didFailToCreateURLRequestWith error: SessionError)
    /// All adapters have changed the request (EM-17); not called without adapters.
    func request(
        _ request: Request, didAdaptInitialURLRequest initial: TransportRequest, to adapted: TransportRequest)
    /// An adapter failed, or returned a request that must not be sent (EM-18).
    func request(_ request: Request, didFailToAdaptURLRequestWith error: SessionError)
    /// The request to send is final (EM-19).
    func requestDidCreateURLRequest(_ request: Request)
    /// The request was given to the transport (EM-20).
    func requestDidCreateTask(_ request: Request)
    /// Metrics of the task are part of the record (EM-21).
    func request(_ request: Request, didGatherMetricsOf hops: [Hop])
    /// A validator has judged the response (EM-32); the index is its position in the list, from 0.
    func request(_ request: Request, didValidateBy validator: String, index: Int, error: SessionError?)
    /// The server failed the trust evaluation of the request or the session (EM-22).
    func request(_ request: Request, didFailTaskEarlyWith error: SessionError)
    /// The task is over; the error is that of the network (EM-23).
    func request(_ request: Request, didCompleteTaskWith error: TransportError?)
    /// The request is sent again after a delay; its retry count does not include that yet.
    func request(_ request: Request, willRetryAfterMilliseconds milliseconds: Int)
    /// The request is about to be retried; its retry count includes this retry (EM-24).
    func requestIsRetrying(_ request: Request)
    /// The request is over except for its serializers (EM-25); repeated if a serializer caused a retry.
    func requestDidFinish(_ request: Request)
    /// A serializer returned a value or failed (EM-33, EM-34).
    func request(_ request: Request, didParse response: SerializedResponse)
    /// A reader of a stream parsed a record or failed (EM-36); not called for readers of plain bytes (ST-08).
    func request(_ request: Request, didParseStream parsed: ParsedStream)
    /// A call resumed the request (EM-26).
    func requestDidResume(_ request: Request)
    /// The task was resumed (EM-27).
    func requestDidResumeTask(_ request: Request)
    /// A call suspended the request (EM-28).
    func requestDidSuspend(_ request: Request)
    /// The task was suspended (EM-29).
    func requestDidSuspendTask(_ request: Request)
    /// A call cancelled the request (EM-30).
    func requestDidCancel(_ request: Request)
    /// The task was cancelled (EM-31).
    func requestDidCancelTask(_ request: Request)
}

extension EventMonitor {
    /// The session takes no more requests, and the last one is over (EM-01). The default does nothing.
    public func sessionDidBecomeInvalid(_ session: Session) {}
    /// There is no path to the host, and the task waits for one (EM-08). The default does nothing.
    public func request(_ request: Request, taskIsWaitingForConnectivity path: NetworkPath) {}
    /// A server requests credentials, or has presented its certificate (EM-02). The default does nothing.
    public func request(_ request: Request, taskDidReceive challenge: AuthenticationChallenge) {}
    /// The server failed the trust evaluation of the request or the session (EM-22). The default does nothing.
    public func request(_ request: Request, didFailTaskEarlyWith error: SessionError) {}
    /// The head of the final response has arrived (EM-09). The default does nothing.
    public func request(_ request: Request, taskDidReceive response: ResponseHead) {}
    /// So many bytes of the final response's body have arrived (EM-10). The default does nothing.
    public func request(_ request: Request, taskDidReceiveBytes count: Int) {}
    /// The origin redirects, whether or not the request follows (EM-05). The default does nothing.
    public func request(_ request: Request, taskWillRedirectTo url: HTTPURL) {}
    /// So many bytes of the request's body were sent (EM-03). The default does nothing.
    public func request(_ request: Request, taskDidSendBodyBytes count: Int, progress: UploadProgress) {}
    /// The body of an upload was created (EM-37). The default does nothing.
    public func request(_ request: Request, didCreateUploadable upload: CreatedUpload) {}
    /// The body of an upload could not be created (EM-38). The default does nothing.
    public func request(_ request: Request, didFailToCreateUploadableWith error: SessionError) {}
    /// A hop begins to read a streamed body (EM-04). The default does nothing.
    public func requestTaskNeedsNewBodyStream(_ request: Request) {}
    /// A streamed body is ready to be read (EM-39). The default does nothing.
    public func requestDidProvideInputStream(_ request: Request) {}
    /// Progress of an upload: the first and the last step, throttled between. The default does nothing.
    public func request(_ request: Request, didUpload progress: UploadProgress) {}
    /// The metrics of all hops of a task are known (EM-06). The default does nothing.
    public func request(_ request: Request, taskDidCollectMetricsOf hops: [Hop]) {}
    /// A piece of a download was written to its file. The default does nothing.
    public func request(_ request: Request, taskDidWrite count: Int, completed: Int64, total: Int64?) {}
    /// A download resumes at this byte (EM-12). The default does nothing.
    public func request(_ request: Request, taskDidResumeAt offset: Int64, total: Int64?) {}
    /// All of a download is in its partial file (EM-14). The default does nothing.
    public func request(_ request: Request, taskDidFinishDownloadingTo path: String) {}
    /// The response is about to be stored (EM-11). The default does nothing.
    public func request(_ request: Request, taskWillCache proposal: CacheProposal) {}
    /// A download is about to get its final name (EM-41). The default does nothing.
    public func request(_ request: Request, didCreateDestination path: String) {}
    /// A download was moved to its final name, or the move failed (EM-40). The default does nothing.
    public func request(_ request: Request, didFinishDownloading result: Result<String, SessionError>) {}
    /// Progress of a body: throttled, and at the end. The default does nothing.
    public func request(_ request: Request, didProgressTo completed: Int64, total: Int64?) {}
    /// The last hop is over (EM-07). The default does nothing.
    public func request(_ request: Request, taskDidCompleteWith error: TransportError?) {}
    /// The first request to send is made from the parameters (EM-15). The default does nothing.
    public func requestDidCreateInitialURLRequest(_ request: Request) {}
    /// The parameters make no valid request (EM-16). The default does nothing.
    public func request(_ request: Request, didFailToCreateURLRequestWith error: SessionError) {}
    /// The request to send is final (EM-19). The default does nothing.
    public func requestDidCreateURLRequest(_ request: Request) {}
    /// The request was given to the transport (EM-20). The default does nothing.
    public func requestDidCreateTask(_ request: Request) {}
    /// Metrics of the task are part of the record (EM-21). The default does nothing.
    public func request(_ request: Request, didGatherMetricsOf hops: [Hop]) {}
    /// A validator has judged the response (EM-32). The default does nothing.
    public func request(_ request: Request, didValidateBy validator: String, index: Int, error: SessionError?) {}
    /// All adapters have changed the request (EM-17). The default does nothing.
    public func request(
        _ request: Request, didAdaptInitialURLRequest initial: TransportRequest, to adapted: TransportRequest
    ) {}
    /// An adapter failed, or returned a request that must not be sent (EM-18). The default does nothing.
    public func request(_ request: Request, didFailToAdaptURLRequestWith error: SessionError) {}
    /// The request is sent again after a delay. The default does nothing.
    public func request(_ request: Request, willRetryAfterMilliseconds milliseconds: Int) {}
    /// The request is about to be retried. The default does nothing.
    public func requestIsRetrying(_ request: Request) {}
    /// A serializer returned a value or failed (EM-33, EM-34). The default does nothing.
    public func request(_ request: Request, didParse response: SerializedResponse) {}
    /// A reader of a stream parsed a record or failed (EM-36). The default does nothing.
    public func request(_ request: Request, didParseStream parsed: ParsedStream) {}
    /// A call suspended the request (EM-28). The default does nothing.
    public func requestDidSuspend(_ request: Request) {}
    /// The task was suspended (EM-29). The default does nothing.
    public func requestDidSuspendTask(_ request: Request) {}
    /// The task is over. The default does nothing.
    public func request(_ request: Request, didCompleteTaskWith error: TransportError?) {}
    /// The request is over except for its serializers (EM-25). The default does nothing.
    public func requestDidFinish(_ request: Request) {}
    /// A call resumed the request (EM-26). The default does nothing.
    public func requestDidResume(_ request: Request) {}
    /// The task was resumed (EM-27). The default does nothing.
    public func requestDidResumeTask(_ request: Request) {}
    /// A call cancelled the request (EM-30). The default does nothing.
    public func requestDidCancel(_ request: Request) {}
    /// The task was cancelled (EM-31). The default does nothing.
    public func requestDidCancelTask(_ request: Request) {}
}
