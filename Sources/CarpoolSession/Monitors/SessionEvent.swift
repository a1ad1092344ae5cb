public import CarpoolHTTP

/// A step in the life of a request or of its task, with what is new at this step. The events of a request come on the
/// session's loop, in the order in which the steps happen. Large payloads are indirect, because an event is passed on
/// several times.
public enum SessionEvent {
    // MARK: Events of the request

    /// The first request was made from the parameters (EM-15).
    case didCreateInitialURLRequest
    /// The parameters make no request (EM-16).
    case didFailToCreateURLRequest(SessionError)
    /// All adapters have changed the request: ``Attempt/initialRequest`` became ``Request/urlRequest`` (EM-17). Omitted
    /// without adapters.
    case didAdaptInitialURLRequest
    /// An adapter failed, or made a request that must not be sent (EM-18).
    case didFailToAdaptURLRequest(SessionError)
    /// The body of an upload was created (EM-37).
    indirect case didCreateUploadable(CreatedUpload)
    /// The body of an upload could not be created (EM-38).
    case didFailToCreateUploadable(SessionError)
    /// The request to send is final (EM-19).
    case didCreateURLRequest
    /// The task was created (EM-20).
    case didCreateTask
    /// A call resumed the request (EM-26).
    case didResume
    /// The task was resumed (EM-27).
    case didResumeTask
    /// A call suspended the request (EM-28).
    case didSuspend
    /// The task was suspended (EM-29).
    case didSuspendTask
    /// A call cancelled the request (EM-30).
    case didCancel
    /// The task was cancelled (EM-31).
    case didCancelTask
    /// A streamed body is ready to be read (EM-39).
    case didProvideInputStream
    /// Progress of an upload: the first and the last step, throttled between.
    indirect case didUpload(UploadProgress)
    /// Progress of the response body: throttled; for requests that are not downloads only if it takes long.
    case didProgress(Int64, total: Int64?)
    /// The final path of a download is known (EM-41).
    case didCreateDestination(String)
    /// A download was moved to its final path, or the move failed (EM-40).
    case didFinishDownloading(Result<String, SessionError>)
    /// The task's metrics are in the record (EM-21).
    case didGatherMetrics([Hop])
    /// The server failed the trust evaluation of the request or the session (EM-22).
    case didFailTaskEarly(SessionError)
    /// A validator judged the response; the index is its place in the list, from 0 (EM-32).
    case didValidate(String, index: Int, error: SessionError?)
    /// The task is complete, after the validators; the error is that of the network (EM-23).
    case didCompleteTask(TransportError?)
    /// The request is sent again after a delay.
    case willRetry(milliseconds: Int)
    /// The request is about to be sent again; ``Request/retryCount`` includes this retry (EM-24).
    case isRetrying
    /// The request is finished except for its serializers (EM-25); repeated if a serializer caused a retry.
    case didFinish
    /// A serializer returned a value or failed (EM-33, EM-34).
    case didParse(SerializedResponse)
    /// A reader of a stream parsed a record or failed (EM-36); omitted for readers of plain bytes (ST-08).
    indirect case didParseStream(ParsedStream)

    // MARK: Events of the task

    /// The host cannot be reached, and the task waits until it can (EM-08); at most once a task.
    indirect case taskIsWaitingForConnectivity(NetworkPath)
    /// A hop is about to read a streamed body (EM-04).
    case taskNeedsNewBodyStream
    /// Bytes of the request body were sent (EM-03).
    indirect case taskDidSendBodyData(Int, progress: UploadProgress)
    /// The response redirects, whether or not the request follows (EM-05).
    indirect case taskWillRedirect(HTTPURL)
    /// The server asked for credentials, or presented its certificate (EM-02).
    indirect case taskDidReceiveChallenge(AuthenticationChallenge)
    /// The head of the final response arrived (EM-09); omitted for responses that redirect.
    case taskDidReceiveResponse(ResponseHead)
    /// Bytes of the final response's body arrived (EM-10).
    case taskDidReceiveData(Int)
    /// A download continues from this byte (EM-12).
    case taskDidResume(Int64, total: Int64?)
    /// Bytes of a download were written to its file (EM-13).
    case taskDidWriteData(Int, completed: Int64, total: Int64?)
    /// All bytes of a download are in its partial file (EM-14).
    case taskDidFinishDownloading(String)
    /// The response is about to be stored (EM-11).
    case taskWillCacheResponse(CacheProposal)
    /// The metrics of all hops of the task (EM-06).
    case taskDidCollectMetrics([Hop])
    /// The last hop ended (EM-07).
    case taskDidComplete(TransportError?)

    /// Whether it is an event of the task: only monitors of the session receive these.
    var isOfTask: Bool {
        switch self {
        case .taskIsWaitingForConnectivity, .taskNeedsNewBodyStream, .taskDidSendBodyData, .taskWillRedirect,
            .taskDidReceiveChallenge, .taskDidReceiveResponse, .taskDidReceiveData, .taskDidResume,
            .taskDidWriteData, .taskDidFinishDownloading, .taskWillCacheResponse, .taskDidCollectMetrics,
            .taskDidComplete:
            true
        default: false
        }
    }
}
