public import CarpoolHTTP

/// Observes requests: ``receive(_:of:)`` is called for every event, on the session's loop, in the order in which the steps happen. Its default
/// calls the method of the event; a monitor implements the methods that it needs, or ``receive(_:of:)`` itself.
public protocol EventMonitor: AnyObject {
    /// Receives an event of a request.
    func receive(_ event: SessionEvent, of request: Request)
    /// The session takes no more requests, and the last one is over (EM-01).
    func sessionDidBecomeInvalid(_ session: Session)
    /// There is no way to the host, and the task waits for one (EM-08); told once of a task.
    func request(_ request: Request, taskIsWaitingForConnectivity path: NetworkPath)
    /// A server wants to know who sends the request, or has shown its certificate (EM-02).
    func request(_ request: Request, taskDidReceive challenge: AuthenticationChallenge)
    /// The head of the final response is there (EM-09); those that redirect are told by the next one alone.
    func request(_ request: Request, taskDidReceive response: ResponseHead)
    /// So many bytes of the final response's body have arrived (EM-10).
    func request(_ request: Request, taskDidReceiveBytes count: Int)
    /// The origin redirects, whether or not the request follows (EM-05).
    func request(_ request: Request, taskWillRedirectTo url: HTTPURL)
    /// So many bytes of the request's body were sent (EM-03).
    func request(_ request: Request, taskDidSendBodyBytes count: Int, progress: UploadProgress)
    /// The body that an upload sends is there (EM-37).
    func request(_ request: Request, didCreateUploadable upload: CreatedUpload)
    /// The body that an upload was to send could not be made (EM-38).
    func request(_ request: Request, didFailToCreateUploadableWith error: SessionError)
    /// A hop begins to read a body that somebody gives meanwhile (EM-04).
    func requestTaskNeedsNewBodyStream(_ request: Request)
    /// That body is there to be read (EM-39).
    func requestDidProvideInputStream(_ request: Request)
    /// How much of an upload's body was sent: at first, at last, and now and then between.
    func request(_ request: Request, didUpload progress: UploadProgress)
    /// The metrics of a task are known, those of each of its hops (EM-06).
    func request(_ request: Request, taskDidCollectMetricsOf hops: [Hop])
    /// A piece of a download was written to its file; so much of it is there now, out of the whole if that is known (EM-13).
    func request(_ request: Request, taskDidWrite count: Int, completed: Int64, total: Int64?)
    /// A download goes on from this byte (EM-12).
    func request(_ request: Request, taskDidResumeAt offset: Int64, total: Int64?)
    /// All of a download is in its partial file (EM-14).
    func request(_ request: Request, taskDidFinishDownloadingTo path: String)
    /// A download is about to get its final name (EM-41).
    func request(_ request: Request, didCreateDestination path: String)
    /// A download has its final name, or has not (EM-40).
    func request(_ request: Request, didFinishDownloading result: Result<String, SessionError>)
    /// So much of a body has come; told now and then, and at the end. Of what is not a download only if it takes a while.
    func request(_ request: Request, didProgressTo completed: Int64, total: Int64?)
    /// The last hop is over (EM-07).
    func request(_ request: Request, taskDidCompleteWith error: TransportError?)
    /// The first request to send is made from the parameters (EM-15).
    func requestDidCreateInitialURLRequest(_ request: Request)
    /// The parameters make no request (EM-16).
    func request(_ request: Request, didFailToCreateURLRequestWith error: SessionError)
    /// All adapters have had the request (EM-17); not told where there are none.
    func request(
        _ request: Request, didAdaptInitialURLRequest initial: TransportRequest, to adapted: TransportRequest)
    /// An adapter failed, or made a request that must not be sent (EM-18).
    func request(_ request: Request, didFailToAdaptURLRequestWith error: SessionError)
    /// The request to send is final (EM-19).
    func requestDidCreateURLRequest(_ request: Request)
    /// The request was given to the transport (EM-20).
    func requestDidCreateTask(_ request: Request)
    /// Metrics of the task are part of the record (EM-21).
    func request(_ request: Request, didGatherMetricsOf hops: [Hop])
    /// A validator has judged the response (EM-32); the index is its place in the list, from 0.
    func request(_ request: Request, didValidateBy validator: String, index: Int, error: SessionError?)
    /// The task cannot go on, because those whom the request or its session trusts do not vouch for the server (EM-22).
    func request(_ request: Request, didFailTaskEarlyWith error: SessionError)
    /// The task is over; the error is the network's alone (EM-23).
    func request(_ request: Request, didCompleteTaskWith error: TransportError?)
    /// The request is about to be sent again; its retries already count this one (EM-24).
    func requestIsRetrying(_ request: Request)
    /// The request is over but for its serializers (EM-25); again, if one of them has it sent again.
    func requestDidFinish(_ request: Request)
    /// A serializer has made a value of the response, or has not (EM-33, EM-34).
    func request(_ request: Request, didParse response: SerializedResponse)
    /// A reader of a stream has made something of its bytes, or has not (EM-36); not told of readers that get the bytes themselves (ST-08).
    func request(_ request: Request, didParseStream parsed: ParsedStream)
    /// Somebody resumed the request (EM-26).
    func requestDidResume(_ request: Request)
    /// The task goes (EM-27).
    func requestDidResumeTask(_ request: Request)
    /// Somebody suspended the request (EM-28).
    func requestDidSuspend(_ request: Request)
    /// The task waits (EM-29).
    func requestDidSuspendTask(_ request: Request)
    /// Somebody cancelled the request (EM-30).
    func requestDidCancel(_ request: Request)
    /// The task was told (EM-31).
    func requestDidCancelTask(_ request: Request)
}

extension EventMonitor {
    /// Does nothing, as every step that a monitor leaves out.
    public func sessionDidBecomeInvalid(_ session: Session) {}
    /// Does nothing.
    public func request(_ request: Request, taskIsWaitingForConnectivity path: NetworkPath) {}
    /// Does nothing.
    public func request(_ request: Request, taskDidReceive challenge: AuthenticationChallenge) {}
    /// Does nothing.
    public func request(_ request: Request, didFailTaskEarlyWith error: SessionError) {}
    /// Does nothing.
    public func request(_ request: Request, taskDidReceive response: ResponseHead) {}
    /// Does nothing.
    public func request(_ request: Request, taskDidReceiveBytes count: Int) {}
    /// Does nothing.
    public func request(_ request: Request, taskWillRedirectTo url: HTTPURL) {}
    /// Does nothing.
    public func request(_ request: Request, taskDidSendBodyBytes count: Int, progress: UploadProgress) {}
    /// Does nothing.
    public func request(_ request: Request, didCreateUploadable upload: CreatedUpload) {}
    /// Does nothing.
    public func request(_ request: Request, didFailToCreateUploadableWith error: SessionError) {}
    /// Does nothing.
    public func requestTaskNeedsNewBodyStream(_ request: Request) {}
    /// Does nothing.
    public func requestDidProvideInputStream(_ request: Request) {}
    /// Does nothing.
    public func request(_ request: Request, didUpload progress: UploadProgress) {}
    /// Does nothing.
    public func request(_ request: Request, taskDidCollectMetricsOf hops: [Hop]) {}
    /// Does nothing.
    public func request(_ request: Request, taskDidWrite count: Int, completed: Int64, total: Int64?) {}
    /// Does nothing.
    public func request(_ request: Request, taskDidResumeAt offset: Int64, total: Int64?) {}
    /// Does nothing.
    public func request(_ request: Request, taskDidFinishDownloadingTo path: String) {}
    /// Does nothing.
    public func request(_ request: Request, didCreateDestination path: String) {}
    /// Does nothing.
    public func request(_ request: Request, didFinishDownloading result: Result<String, SessionError>) {}
    /// Does nothing.
    public func request(_ request: Request, didProgressTo completed: Int64, total: Int64?) {}
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
    public func request(_ request: Request, didGatherMetricsOf hops: [Hop]) {}
    /// Does nothing.
    public func request(_ request: Request, didValidateBy validator: String, index: Int, error: SessionError?) {}
    /// Does nothing.
    public func request(
        _ request: Request, didAdaptInitialURLRequest initial: TransportRequest, to adapted: TransportRequest
    ) {}
    /// Does nothing.
    public func request(_ request: Request, didFailToAdaptURLRequestWith error: SessionError) {}
    /// Does nothing.
    public func requestIsRetrying(_ request: Request) {}
    /// Does nothing.
    public func request(_ request: Request, didParse response: SerializedResponse) {}
    /// Does nothing.
    public func request(_ request: Request, didParseStream parsed: ParsedStream) {}
    /// Does nothing.
    public func requestDidSuspend(_ request: Request) {}
    /// Does nothing.
    public func requestDidSuspendTask(_ request: Request) {}
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
