public import CarpoolHTTP

/// Several monitors as one: each is told of every step, in the order in which they were given.
public final class CompositeEventMonitor: EventMonitor {
    /// Those who are told.
    public let monitors: [any EventMonitor]
    /// The one monitor of a session. The monitors of a request are called after it, for the events of the request itself and not for those of its tasks.
    private let session: (any EventMonitor)?

    /// Joins monitors.
    public init(_ monitors: [any EventMonitor]) {
        self.monitors = monitors
        session = nil
    }

    /// The monitor of a session, which tells the session's monitor first and then the request's own (EM-01 to EM-44).
    init(ofSession monitor: any EventMonitor) {
        monitors = [monitor]
        session = monitor
    }

    @inline(__always)
    private func tell(_ body: (any EventMonitor) -> Void) {
        // Without a walk through the list: every request passes here a dozen times.
        if let session { return body(session) }
        for monitor in monitors { body(monitor) }
    }

    @inline(__always)
    private func tell(_ request: Request, _ body: (any EventMonitor) -> Void) {
        tell(body)
        guard session != nil else { return }
        for index in request.parameters.eventMonitors.indices { body(request.parameters.eventMonitors[index]) }
    }
}

// The steps, each told to all.
extension CompositeEventMonitor {
    /// Tells all.
    public func sessionDidBecomeInvalid(_ session: Session) {
        tell { $0.sessionDidBecomeInvalid(session) }
    }
    /// Tells all.
    public func request(_ request: Request, taskIsWaitingForConnectivity path: NetworkPath) {
        tell { $0.request(request, taskIsWaitingForConnectivity: path) }
    }
    /// Tells all.
    public func request(_ request: Request, taskDidReceive challenge: AuthenticationChallenge) {
        tell { $0.request(request, taskDidReceive: challenge) }
    }
    /// Tells all.
    public func request(_ request: Request, didFailTaskEarlyWith error: SessionError) {
        tell(request) { $0.request(request, didFailTaskEarlyWith: error) }
    }
    /// Tells all.
    public func request(_ request: Request, taskDidReceive response: ResponseHead) {
        tell { $0.request(request, taskDidReceive: response) }
    }
    /// Tells all.
    public func request(_ request: Request, taskDidReceiveBytes count: Int) {
        tell { $0.request(request, taskDidReceiveBytes: count) }
    }
    /// Tells all.
    public func request(_ request: Request, taskWillRedirectTo url: HTTPURL) {
        tell { $0.request(request, taskWillRedirectTo: url) }
    }
    /// Tells all.
    public func request(_ request: Request, taskDidSendBodyBytes count: Int, progress: UploadProgress) {
        tell { $0.request(request, taskDidSendBodyBytes: count, progress: progress) }
    }
    /// Tells all.
    public func request(_ request: Request, didCreateUploadable upload: CreatedUpload) {
        tell(request) { $0.request(request, didCreateUploadable: upload) }
    }
    /// Tells all.
    public func request(_ request: Request, didFailToCreateUploadableWith error: SessionError) {
        tell(request) { $0.request(request, didFailToCreateUploadableWith: error) }
    }
    /// Tells all.
    public func requestTaskNeedsNewBodyStream(_ request: Request) {
        tell { $0.requestTaskNeedsNewBodyStream(request) }
    }
    /// Tells all.
    public func requestDidProvideInputStream(_ request: Request) {
        tell(request) { $0.requestDidProvideInputStream(request) }
    }
    /// Tells all.
    public func request(_ request: Request, didUpload progress: UploadProgress) {
        tell(request) { $0.request(request, didUpload: progress) }
    }
    /// Tells all.
    public func request(_ request: Request, taskDidCollectMetricsOf hops: [Hop]) {
        tell { $0.request(request, taskDidCollectMetricsOf: hops) }
    }
    /// Tells all.
    public func request(_ request: Request, taskDidWrite count: Int, completed: Int64, total: Int64?) {
        tell { $0.request(request, taskDidWrite: count, completed: completed, total: total) }
    }
    /// Tells all.
    public func request(_ request: Request, taskDidResumeAt offset: Int64, total: Int64?) {
        tell { $0.request(request, taskDidResumeAt: offset, total: total) }
    }
    /// Tells all.
    public func request(_ request: Request, taskDidFinishDownloadingTo path: String) {
        tell { $0.request(request, taskDidFinishDownloadingTo: path) }
    }
    /// Tells all.
    public func request(_ request: Request, didCreateDestination path: String) {
        tell(request) { $0.request(request, didCreateDestination: path) }
    }
    /// Tells all.
    public func request(_ request: Request, didFinishDownloading result: Result<String, SessionError>) {
        tell(request) { $0.request(request, didFinishDownloading: result) }
    }
    /// Tells all.
    public func request(_ request: Request, didProgressTo completed: Int64, total: Int64?) {
        tell(request) { $0.request(request, didProgressTo: completed, total: total) }
    }
    /// Tells all.
    public func request(_ request: Request, taskDidCompleteWith error: TransportError?) {
        tell { $0.request(request, taskDidCompleteWith: error) }
    }
    /// Tells all.
    public func requestDidCreateInitialURLRequest(_ request: Request) {
        tell(request) { $0.requestDidCreateInitialURLRequest(request) }
    }
    /// Tells all.
    public func request(_ request: Request, didFailToCreateURLRequestWith error: SessionError) {
        tell(request) { $0.request(request, didFailToCreateURLRequestWith: error) }
    }
    /// Tells all.
    public func request(
        _ request: Request, didAdaptInitialURLRequest initial: TransportRequest, to adapted: TransportRequest
    ) {
        tell(request) { $0.request(request, didAdaptInitialURLRequest: initial, to: adapted) }
    }
    /// Tells all.
    public func request(_ request: Request, didFailToAdaptURLRequestWith error: SessionError) {
        tell(request) { $0.request(request, didFailToAdaptURLRequestWith: error) }
    }
    /// Tells all.
    public func requestDidCreateURLRequest(_ request: Request) {
        tell(request) { $0.requestDidCreateURLRequest(request) }
    }
    /// Tells all.
    public func requestDidCreateTask(_ request: Request) {
        tell(request) { $0.requestDidCreateTask(request) }
    }
    /// Tells all.
    public func request(_ request: Request, didGatherMetricsOf hops: [Hop]) {
        tell(request) { $0.request(request, didGatherMetricsOf: hops) }
    }
    /// Tells all.
    public func request(_ request: Request, didValidateBy validator: String, index: Int, error: SessionError?) {
        tell(request) { $0.request(request, didValidateBy: validator, index: index, error: error) }
    }
    /// Tells all.
    public func request(_ request: Request, didCompleteTaskWith error: TransportError?) {
        tell(request) { $0.request(request, didCompleteTaskWith: error) }
    }
    /// Tells all.
    public func requestIsRetrying(_ request: Request) {
        tell(request) { $0.requestIsRetrying(request) }
    }
    /// Tells all.
    public func requestDidFinish(_ request: Request) {
        tell(request) { $0.requestDidFinish(request) }
    }
    /// Tells all.
    public func request(_ request: Request, didParse response: SerializedResponse) {
        tell(request) { $0.request(request, didParse: response) }
    }
    /// Tells all.
    public func request(_ request: Request, didParseStream parsed: ParsedStream) {
        tell(request) { $0.request(request, didParseStream: parsed) }
    }
    /// Tells all.
    public func requestDidResume(_ request: Request) {
        tell(request) { $0.requestDidResume(request) }
    }
    /// Tells all.
    public func requestDidResumeTask(_ request: Request) {
        tell(request) { $0.requestDidResumeTask(request) }
    }
    /// Tells all.
    public func requestDidSuspend(_ request: Request) {
        tell(request) { $0.requestDidSuspend(request) }
    }
    /// Tells all.
    public func requestDidSuspendTask(_ request: Request) {
        tell(request) { $0.requestDidSuspendTask(request) }
    }
    /// Tells all.
    public func requestDidCancel(_ request: Request) {
        tell(request) { $0.requestDidCancel(request) }
    }
    /// Tells all.
    public func requestDidCancelTask(_ request: Request) {
        tell(request) { $0.requestDidCancelTask(request) }
    }
}
