public import CarpoolHTTP

/// A monitor made of closures, for those who care for few steps: set the closures of those.
public final class ClosureEventMonitor: EventMonitor {
    /// A monitor that cares for nothing yet.
    public init() {}

    /// The session takes no more requests, and the last one is over (EM-01).
    public var sessionDidBecomeInvalid: ((Session) -> Void)?
    /// There is no way to the host, and the task waits for one (EM-08); told once of a task.
    public var requestTaskIsWaitingForConnectivity: ((Request, NetworkPath) -> Void)?
    /// A server wants to know who sends the request, or has shown its certificate (EM-02).
    public var requestTaskDidReceiveChallenge: ((Request, AuthenticationChallenge) -> Void)?
    /// The task cannot go on, because those whom the request or its session trusts do not vouch for the server (EM-22).
    public var requestDidFailTaskEarly: ((Request, SessionError) -> Void)?
    /// The head of the final response is there (EM-09); those that redirect are told by the next one alone.
    public var requestTaskDidReceiveResponse: ((Request, ResponseHead) -> Void)?
    /// So many bytes of the final response's body have arrived (EM-10).
    public var requestTaskDidReceiveData: ((Request, Int) -> Void)?
    /// The origin redirects, whether or not the request follows (EM-05).
    public var requestTaskWillRedirect: ((Request, HTTPURL) -> Void)?
    /// So many bytes of the request's body were sent (EM-03).
    public var requestTaskDidSendBodyData: ((Request, Int, UploadProgress) -> Void)?
    /// The body that an upload sends is there (EM-37).
    public var requestDidCreateUploadable: ((Request, CreatedUpload) -> Void)?
    /// The body that an upload was to send could not be made (EM-38).
    public var requestDidFailToCreateUploadable: ((Request, SessionError) -> Void)?
    /// A hop begins to read a body that somebody gives meanwhile (EM-04).
    public var requestTaskNeedsNewBodyStream: ((Request) -> Void)?
    /// That body is there to be read (EM-39).
    public var requestDidProvideInputStream: ((Request) -> Void)?
    /// How much of an upload's body was sent: at first, at last, and now and then between.
    public var requestDidUpload: ((Request, UploadProgress) -> Void)?
    /// The metrics of a task are known, those of each of its hops (EM-06).
    public var requestTaskDidCollectMetrics: ((Request, [Hop]) -> Void)?
    /// A piece of a download was written to its file; so much of it is there now, out of the whole if that is known (EM-13).
    public var requestTaskDidWriteData: ((Request, Int, Int64, Int64?) -> Void)?
    /// A download goes on from this byte (EM-12).
    public var requestTaskDidResumeAtOffset: ((Request, Int64, Int64?) -> Void)?
    /// All of a download is in its partial file (EM-14).
    public var requestTaskDidFinishDownloading: ((Request, String) -> Void)?
    /// A download is about to get its final name (EM-41).
    public var requestDidCreateDestination: ((Request, String) -> Void)?
    /// A download has its final name, or has not (EM-40).
    public var requestDidFinishDownloading: ((Request, Result<String, SessionError>) -> Void)?
    /// So much of a body has come; told now and then, and at the end.
    public var requestDidProgress: ((Request, Int64, Int64?) -> Void)?
    /// The last hop is over (EM-07).
    public var requestTaskDidComplete: ((Request, TransportError?) -> Void)?
    /// The first request to send is made from the parameters (EM-15).
    public var requestDidCreateInitialURLRequest: ((Request) -> Void)?
    /// The parameters make no request (EM-16).
    public var requestDidFailToCreateURLRequest: ((Request, SessionError) -> Void)?
    /// All adapters have had the request (EM-17); not told where there are none.
    public var requestDidAdaptInitialURLRequest: ((Request, TransportRequest, TransportRequest) -> Void)?
    /// An adapter failed, or made a request that must not be sent (EM-18).
    public var requestDidFailToAdaptURLRequest: ((Request, SessionError) -> Void)?
    /// The request to send is final (EM-19).
    public var requestDidCreateURLRequest: ((Request) -> Void)?
    /// The request was given to the transport (EM-20).
    public var requestDidCreateTask: ((Request) -> Void)?
    /// Metrics of the task are part of the record (EM-21).
    public var requestDidGatherMetrics: ((Request, [Hop]) -> Void)?
    /// A validator has judged the response (EM-32); the index is its place in the list, from 0.
    public var requestDidValidate: ((Request, String, Int, SessionError?) -> Void)?
    /// The task is over; the error is the network's alone (EM-23).
    public var requestDidCompleteTask: ((Request, TransportError?) -> Void)?
    /// The request is about to be sent again; its retries already count this one (EM-24).
    public var requestIsRetrying: ((Request) -> Void)?
    /// The request is over but for its serializers (EM-25); again, if one of them has it sent again.
    public var requestDidFinish: ((Request) -> Void)?
    /// A serializer has made a value of the response, or has not (EM-33, EM-34).
    public var requestDidParseResponse: ((Request, SerializedResponse) -> Void)?
    /// A reader of a stream has made something of its bytes, or has not (EM-36); not told of readers that get the bytes themselves (ST-08).
    public var requestDidParseStream: ((Request, ParsedStream) -> Void)?
    /// Somebody resumed the request (EM-26).
    public var requestDidResume: ((Request) -> Void)?
    /// The task goes (EM-27).
    public var requestDidResumeTask: ((Request) -> Void)?
    /// Somebody suspended the request (EM-28).
    public var requestDidSuspend: ((Request) -> Void)?
    /// The task waits (EM-29).
    public var requestDidSuspendTask: ((Request) -> Void)?
    /// Somebody cancelled the request (EM-30).
    public var requestDidCancel: ((Request) -> Void)?
    /// The task was told (EM-31).
    public var requestDidCancelTask: ((Request) -> Void)?

    // MARK: The steps

    /// Calls its closure.
    public func sessionDidBecomeInvalid(_ session: Session) {
        self.sessionDidBecomeInvalid?(session)
    }
    /// Calls its closure.
    public func request(_ request: Request, taskIsWaitingForConnectivity path: NetworkPath) {
        requestTaskIsWaitingForConnectivity?(request, path)
    }
    /// Calls its closure.
    public func request(_ request: Request, taskDidReceive challenge: AuthenticationChallenge) {
        requestTaskDidReceiveChallenge?(request, challenge)
    }
    /// Calls its closure.
    public func request(_ request: Request, didFailTaskEarlyWith error: SessionError) {
        requestDidFailTaskEarly?(request, error)
    }
    /// Calls its closure.
    public func request(_ request: Request, taskDidReceive response: ResponseHead) {
        requestTaskDidReceiveResponse?(request, response)
    }
    /// Calls its closure.
    public func request(_ request: Request, taskDidReceiveBytes count: Int) {
        requestTaskDidReceiveData?(request, count)
    }
    /// Calls its closure.
    public func request(_ request: Request, taskWillRedirectTo url: HTTPURL) {
        requestTaskWillRedirect?(request, url)
    }
    /// Calls its closure.
    public func request(_ request: Request, taskDidSendBodyBytes count: Int, progress: UploadProgress) {
        requestTaskDidSendBodyData?(request, count, progress)
    }
    /// Calls its closure.
    public func request(_ request: Request, didCreateUploadable upload: CreatedUpload) {
        requestDidCreateUploadable?(request, upload)
    }
    /// Calls its closure.
    public func request(_ request: Request, didFailToCreateUploadableWith error: SessionError) {
        requestDidFailToCreateUploadable?(request, error)
    }
    /// Calls its closure.
    public func requestTaskNeedsNewBodyStream(_ request: Request) {
        self.requestTaskNeedsNewBodyStream?(request)
    }
    /// Calls its closure.
    public func requestDidProvideInputStream(_ request: Request) {
        self.requestDidProvideInputStream?(request)
    }
    /// Calls its closure.
    public func request(_ request: Request, didUpload progress: UploadProgress) {
        requestDidUpload?(request, progress)
    }
    /// Calls its closure.
    public func request(_ request: Request, taskDidCollectMetricsOf hops: [Hop]) {
        requestTaskDidCollectMetrics?(request, hops)
    }
    /// Calls its closure.
    public func request(_ request: Request, taskDidWrite count: Int, completed: Int64, total: Int64?) {
        requestTaskDidWriteData?(request, count, completed, total)
    }
    /// Calls its closure.
    public func request(_ request: Request, taskDidResumeAt offset: Int64, total: Int64?) {
        requestTaskDidResumeAtOffset?(request, offset, total)
    }
    /// Calls its closure.
    public func request(_ request: Request, taskDidFinishDownloadingTo path: String) {
        requestTaskDidFinishDownloading?(request, path)
    }
    /// Calls its closure.
    public func request(_ request: Request, didCreateDestination path: String) {
        requestDidCreateDestination?(request, path)
    }
    /// Calls its closure.
    public func request(_ request: Request, didFinishDownloading result: Result<String, SessionError>) {
        requestDidFinishDownloading?(request, result)
    }
    /// Calls its closure.
    public func request(_ request: Request, didProgressTo completed: Int64, total: Int64?) {
        requestDidProgress?(request, completed, total)
    }
    /// Calls its closure.
    public func request(_ request: Request, taskDidCompleteWith error: TransportError?) {
        requestTaskDidComplete?(request, error)
    }
    /// Calls its closure.
    public func requestDidCreateInitialURLRequest(_ request: Request) {
        self.requestDidCreateInitialURLRequest?(request)
    }
    /// Calls its closure.
    public func request(_ request: Request, didFailToCreateURLRequestWith error: SessionError) {
        requestDidFailToCreateURLRequest?(request, error)
    }
    /// Calls its closure.
    public func request(
        _ request: Request, didAdaptInitialURLRequest initial: TransportRequest, to adapted: TransportRequest
    ) {
        requestDidAdaptInitialURLRequest?(request, initial, adapted)
    }
    /// Calls its closure.
    public func request(_ request: Request, didFailToAdaptURLRequestWith error: SessionError) {
        requestDidFailToAdaptURLRequest?(request, error)
    }
    /// Calls its closure.
    public func requestDidCreateURLRequest(_ request: Request) {
        self.requestDidCreateURLRequest?(request)
    }
    /// Calls its closure.
    public func requestDidCreateTask(_ request: Request) {
        self.requestDidCreateTask?(request)
    }
    /// Calls its closure.
    public func request(_ request: Request, didGatherMetricsOf hops: [Hop]) {
        requestDidGatherMetrics?(request, hops)
    }
    /// Calls its closure.
    public func request(_ request: Request, didValidateBy validator: String, index: Int, error: SessionError?) {
        requestDidValidate?(request, validator, index, error)
    }
    /// Calls its closure.
    public func request(_ request: Request, didCompleteTaskWith error: TransportError?) {
        requestDidCompleteTask?(request, error)
    }
    /// Calls its closure.
    public func requestIsRetrying(_ request: Request) {
        self.requestIsRetrying?(request)
    }
    /// Calls its closure.
    public func requestDidFinish(_ request: Request) {
        self.requestDidFinish?(request)
    }
    /// Calls its closure.
    public func request(_ request: Request, didParse response: SerializedResponse) {
        requestDidParseResponse?(request, response)
    }
    /// Calls its closure.
    public func request(_ request: Request, didParseStream parsed: ParsedStream) {
        requestDidParseStream?(request, parsed)
    }
    /// Calls its closure.
    public func requestDidResume(_ request: Request) {
        self.requestDidResume?(request)
    }
    /// Calls its closure.
    public func requestDidResumeTask(_ request: Request) {
        self.requestDidResumeTask?(request)
    }
    /// Calls its closure.
    public func requestDidSuspend(_ request: Request) {
        self.requestDidSuspend?(request)
    }
    /// Calls its closure.
    public func requestDidSuspendTask(_ request: Request) {
        self.requestDidSuspendTask?(request)
    }
    /// Calls its closure.
    public func requestDidCancel(_ request: Request) {
        self.requestDidCancel?(request)
    }
    /// Calls its closure.
    public func requestDidCancelTask(_ request: Request) {
        self.requestDidCancelTask?(request)
    }
}
