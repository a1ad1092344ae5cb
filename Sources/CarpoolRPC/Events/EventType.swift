/// A type of event. Its row, which holds the name on the wire, the schema and an example, is found with ``row``.
///
/// The order is that of the pages. A new type needs a case here and a row in the list of its topic.
public enum EventType: Int, CaseIterable, Sendable {
    case sessionDidBecomeInvalid
    case requestDidCreateInitialURLRequest
    case requestDidFailToCreateURLRequest
    case requestDidAdaptInitialRequest
    case requestDidFailToAdaptURLRequest
    case requestDidCreateURLRequest
    case requestDidCreateUploadable
    case requestDidFailToCreateUploadable
    case requestDidProvideInputStream
    case requestUploadProgress
    case requestDidCreateTask
    case requestDidResume
    case requestDidResumeTask
    case requestDidCancel
    case requestDidCancelTask
    case requestDidSuspend
    case requestDidSuspendTask
    case requestDidGatherMetrics
    case requestDidValidate
    case requestDidCompleteTask
    case retryScheduled
    case requestIsRetrying
    case requestDidParseResponse
    case requestDidParseStream
    case requestDidFinish
    case taskDidReceiveChallenge
    case requestDidFailTaskEarly
    case taskDidReceiveResponse
    case taskDidReceiveData
    case taskDidSendBodyData
    case taskNeedsNewBodyStream
    case taskWillRedirect
    case taskDidWriteData
    case taskDidResumeAtOffset
    case taskDidFinishDownloading
    case requestDidCreateDestinationURL
    case requestDidFinishDownloading
    case requestProgress
    case taskDidCollectMetrics
    case taskDidComplete
    case taskIsWaitingForConnectivity
    case taskWillCacheResponse
    case cacheStored
    case cacheHit
    case cacheRevalidated
    case cacheCollapsed
    case cacheInvalidated
    case cacheEvicted
    case cacheWriteFailed
    case poolConnectionOpened
    case poolConnectionClosed
    case reachabilityChanged
    case daemonConfigReloaded
    case daemonDraining
    case notificationDidResume
    case notificationDidSuspend
    case notificationDidCancel
    case notificationDidFinish
    case notificationDidResumeTask
    case notificationDidSuspendTask
    case notificationDidCancelTask
    case notificationDidCompleteTask
    case lagged
    case bookmark
    case subscriptionClosed

    /// The rows of all types, in their order.
    static let rows: [EventDescription] = {
        let written = requestRows + bodyRows + taskRows + cacheRows + daemonRows + notificationRows + protocolRows
        return allCases.map { type in
            // A test checks that every type has exactly one row.
            written.first { $0.type == type } ?? EventDescription(type, "", nil, "")
        }
    }()

    /// The name, the schema and an example.
    public var row: EventDescription { EventType.rows[rawValue] }
    /// The name on the wire.
    public var name: StaticString { row.name }
}
