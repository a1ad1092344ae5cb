internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession
internal import CarpoolSystem

/// Whoever takes events to a client.
protocol EventSink: AnyObject {
    /// Queues one event for a subscription: everything of the notification behind the subscription's name.
    func deliver(_ tail: [UInt8], to subscription: Subscription)
}

/// The daemon's event monitor: makes one notification of each step that somebody has subscribed to, encodes it once, and hands it to every
/// subscriber. Nothing is built while nobody is interested.
final class EventPublisher: EventMonitor, ConnectionObserver {
    private struct Subscriber {
        let subscription: Subscription
        unowned let sink: any EventSink
    }

    /// The owner of a request, as the registry knows it.
    var ownerOfRequest: (String) -> RequestEntry? = { _ in nil }
    private let epoch: String
    let record: RecordWriter
    private var subscribers: [Subscriber] = []
    private var sequence = 0
    private var lastSubscription = 0
    /// Events that were built and encoded.
    private(set) var built = 0

    init(epoch: String, record: RecordWriter) {
        self.epoch = epoch
        self.record = record
    }

    var subscriptionCount: Int { subscribers.count }

    func add(_ subscription: Subscription, sink: any EventSink) {
        subscribers.append(Subscriber(subscription: subscription, sink: sink))
    }

    func remove(_ subscription: Subscription) {
        subscribers.removeAll { $0.subscription === subscription }
    }

    /// Where the stream of events stands.
    var cursor: String { "\(epoch).\(sequence)" }

    /// The number of the next subscription.
    func nextSubscription() -> Int {
        lastSubscription &+= 1
        return lastSubscription
    }

    /// What a subscriber is told instead of the events that it has missed.
    func lagged(_ dropped: Int) -> [UInt8] {
        encode("lagged", nil, nil, nil) { $0.member("dropped", dropped) }
    }

    // MARK: Publishing

    /// Tells those who want it of an event; the body writes the members of `data`, and is called only if there is anybody.
    ///
    /// Inlined, so that without subscribers not even the body's captures are made.
    @inline(__always)
    func publish(
        _ type: StaticString, request: Request? = nil, session: String? = nil,
        data: (inout JSONWriter) -> Void = { _ in }
    ) {
        guard !subscribers.isEmpty else { return }
        publish(type, request, session, data)
    }

    private func publish(
        _ type: StaticString, _ request: Request?, _ session: String?, _ data: (inout JSONWriter) -> Void
    ) {
        let interested = subscribers.filter { $0.subscription.filter.matches(type: type) }
        guard !interested.isEmpty else { return }
        let entry = request.flatMap { ownerOfRequest($0.id) }
        let sessionName = request?.session.name ?? session
        let receivers = interested.filter {
            $0.subscription.filter.matches(session: sessionName, client: entry?.client)
        }
        guard !receivers.isEmpty else { return }
        let tail = encode(type, request, sessionName, entry, data)
        for receiver in receivers { receiver.sink.deliver(tail, to: receiver.subscription) }
    }

    private func encode(
        _ type: StaticString, _ request: Request?, _ session: String?, _ entry: RequestEntry?,
        _ data: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        sequence &+= 1
        built &+= 1
        var writer = JSONWriter()
        writer.member("cursor", cursor)
        writer.member("time", time: WallClock.microseconds())
        writer.member("type", static: type)
        writer.member("session", session)
        writer.member("request", request?.id)
        if let entry { writer.member("client", "c-\(entry.connection)") }
        if let request { writer.member("attempt", max(1, request.attempts.count)) }
        writer.key("data")
        writer.beginObject()
        data(&writer)
        writer.endObject()
        // Closes the notification's params, which begin with the subscription's name.
        writer.endObject()
        return writer.bytes
    }

    // MARK: The session's steps

    func sessionDidBecomeInvalid(_ session: Session) {
        publish("session.did_become_invalid", session: session.name)
    }

    func request(_ request: Request, taskDidReceive response: ResponseHead) {
        publish("task.did_receive_response", request: request) { writer in
            writer.key("response")
            record.write(response, url: request.url, record.eventDetail, to: &writer)
        }
    }

    func request(_ request: Request, taskDidReceiveBytes count: Int) {
        publish("task.did_receive_data", request: request) { $0.member("size_bytes", count) }
    }

    func request(_ request: Request, taskWillRedirectTo url: HTTPURL) {
        publish("task.will_redirect", request: request) { writer in
            writer.member("status", request.response?.status)
            writer.member("from", request.url.map { BoundedText.of($0, bytes: record.eventDetail.urlBytes) })
            record.write(url: url.description, record.eventDetail, to: &writer)
        }
    }

    func request(_ request: Request, taskDidCollectMetricsOf hops: [Hop]) {
        publish("task.did_collect_metrics", request: request) { write(hops, &$0) }
    }

    func request(_ request: Request, taskDidCompleteWith error: TransportError?) {
        publish("task.did_complete", request: request) { $0.member("error", error?.code.rawValue) }
    }

    func requestDidCreateTask(_ request: Request) { publish("request.did_create_task", request: request) }

    func request(_ request: Request, didGatherMetricsOf hops: [Hop]) {
        publish("request.did_gather_metrics", request: request) { write(hops, &$0) }
    }

    func request(_ request: Request, didCompleteTaskWith error: TransportError?) {
        publish("request.did_complete_task", request: request) { $0.member("error", error?.code.rawValue) }
    }

    func requestDidResume(_ request: Request) {
        publish("request.did_resume", request: request) { writeTarget(request, &$0) }
    }

    func requestDidResumeTask(_ request: Request) { publish("request.did_resume_task", request: request) }
    func requestDidSuspend(_ request: Request) { publish("request.did_suspend", request: request) }
    func requestDidSuspendTask(_ request: Request) { publish("request.did_suspend_task", request: request) }
    func requestDidCancel(_ request: Request) { publish("request.did_cancel", request: request) }
    func requestDidCancelTask(_ request: Request) { publish("request.did_cancel_task", request: request) }

    // MARK: The pool's steps

    func connectionDidOpen(_ id: Int, origin: Origin) {
        publish("pool.connection_opened") { writer in
            writer.member("connection", id)
            writer.member("origin", origin.description)
        }
    }

    func connectionDidClose(_ id: Int, origin: Origin, transfers: Int) {
        publish("pool.connection_closed") { writer in
            writer.member("connection", id)
            writer.member("origin", origin.description)
            writer.member("transfers", transfers)
        }
    }
}
