import CarpoolHTTP
import CarpoolSession

/// Records the events, by the names of the session model's callbacks, and runs a test's function at each of them.
final class RecordingMonitor: EventMonitor {
    private(set) var events: [String] = []
    /// Called at each event, before the next one can come.
    var onEvent: (String, Request?) -> Void = { _, _ in }

    /// The events since the last call.
    func take() -> [String] {
        defer { events = [] }
        return events
    }

    private func note(_ event: String, _ request: Request? = nil) {
        events.append(event)
        onEvent(event, request)
    }

    func sessionDidBecomeInvalid(_ session: Session) { note("session.didBecomeInvalid") }
    func request(_ request: Request, taskIsWaitingForConnectivity path: NetworkPath) {
        note("task.isWaitingForConnectivity(\(path.reason ?? "?"))", request)
    }
    func request(_ request: Request, taskDidReceive response: ResponseHead) {
        note("data.didReceiveResponse(\(response.status))", request)
    }
    func request(_ request: Request, taskDidReceiveBytes count: Int) { note("data.didReceiveData(\(count))", request) }
    func request(_ request: Request, taskWillRedirectTo url: HTTPURL) {
        note("task.willRedirect(\(request.response?.status ?? 0), \(url))", request)
    }
    func request(_ request: Request, taskDidSendBodyBytes count: Int, progress: UploadProgress) {
        note("task.didSendBodyData(\(count))", request)
    }
    func request(_ request: Request, taskDidCollectMetricsOf hops: [Hop]) {
        note("task.didCollectMetrics", request)
    }
    func request(_ request: Request, taskDidWrite count: Int, completed: Int64, total: Int64?) {
        note("dl.didWriteData(\(completed) of \(total.map(String.init) ?? "?"))", request)
    }
    func request(_ request: Request, taskDidResumeAt offset: Int64, total: Int64?) {
        note("dl.didResumeAtOffset(\(offset) of \(total.map(String.init) ?? "?"))", request)
    }
    func request(_ request: Request, taskDidFinishDownloadingTo path: String) {
        note("dl.didFinishDownloading", request)
    }
    func request(_ request: Request, didCreateDestination path: String) {
        note("didCreateDestination(\(path.split(separator: "/").last ?? ""))", request)
    }
    func request(_ request: Request, didFinishDownloading result: Result<String, SessionError>) {
        switch result {
        case .success: note("didFinishDownloading", request)
        case .failure(let error): note("didFinishDownloading(\(error.name))", request)
        }
    }
    func request(_ request: Request, taskDidCompleteWith error: TransportError?) {
        note("task.didComplete(\(error?.code.rawValue ?? "null"))", request)
    }
    func request(_ request: Request, didCreateUploadable upload: CreatedUpload) {
        note("didCreateUploadable(\(upload.kind.rawValue))", request)
    }
    func request(_ request: Request, didFailToCreateUploadableWith error: SessionError) {
        note("didFailToCreateUploadable(\(error.name))", request)
    }
    func requestTaskNeedsNewBodyStream(_ request: Request) { note("task.needsNewBodyStream", request) }
    func requestDidProvideInputStream(_ request: Request) { note("didProvideInputStream", request) }
    func request(_ request: Request, didUpload progress: UploadProgress) {
        note("uploadProgress(\(progress.sentBytes) of \(progress.totalBytes.map(String.init) ?? "?"))", request)
    }
    func requestDidCreateInitialURLRequest(_ request: Request) { note("didCreateInitialURLRequest", request) }
    func request(_ request: Request, didFailToCreateURLRequestWith error: SessionError) {
        note("didFailToCreateURLRequest(\(error.name))", request)
    }
    func requestDidCreateURLRequest(_ request: Request) { note("didCreateURLRequest", request) }
    func requestDidCreateTask(_ request: Request) { note("didCreateTask", request) }
    func request(_ request: Request, didGatherMetricsOf hops: [Hop]) { note("didGatherMetrics", request) }
    func request(_ request: Request, didAdaptInitialURLRequest initial: TransportRequest, to adapted: TransportRequest)
    {
        note("didAdaptInitialRequest", request)
    }
    func request(_ request: Request, didFailToAdaptURLRequestWith error: SessionError) {
        note("didFailToAdaptURLRequest(\(error.cause("underlying")?.name ?? "?"))", request)
    }
    func request(_ request: Request, didValidateBy validator: String, index: Int, error: SessionError?) {
        note("didValidate(\(validator), \(error?.name ?? "success"))", request)
    }
    func requestIsRetrying(_ request: Request) { note("requestIsRetrying(\(request.retryCount))", request) }
    func request(_ request: Request, didParse response: SerializedResponse) {
        note("didParseResponse(\(response.serializer), \(response.error?.name ?? "success"))", request)
    }
    func requestDidSuspend(_ request: Request) { note("requestDidSuspend", request) }
    func requestDidSuspendTask(_ request: Request) { note("didSuspendTask", request) }
    func request(_ request: Request, didCompleteTaskWith error: TransportError?) {
        note("didCompleteTask(\(error?.code.rawValue ?? "null"))", request)
    }
    func requestDidFinish(_ request: Request) { note("requestDidFinish", request) }
    func requestDidResume(_ request: Request) { note("requestDidResume", request) }
    func requestDidResumeTask(_ request: Request) { note("didResumeTask", request) }
    func requestDidCancel(_ request: Request) { note("requestDidCancel", request) }
    func requestDidCancelTask(_ request: Request) { note("didCancelTask", request) }
}
