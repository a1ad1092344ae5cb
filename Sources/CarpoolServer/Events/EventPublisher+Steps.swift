internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

// Events about tasks, requests and the pool's connections.
extension EventPublisher {
    func sessionDidBecomeInvalid(_ session: Session) {
        publish(
            .sessionDidBecomeInvalid, about: EventSubject(session: session.name, uid: session.user ?? owner))
    }

    func request(_ request: Request, taskDidReceive challenge: AuthenticationChallenge) {
        publish(.taskDidReceiveChallenge, request: request) { writer in
            writer.member("method", challenge.method.rawValue)
            writer.member("host", challenge.host)
            writer.member("port", challenge.port)
            writer.member("realm", challenge.realm.map { TruncatedText.of($0, bytes: record.eventDetail.urlBytes) })
            if challenge.isOfProxy { writer.member("proxy", true) }
            writer.member("previous_failure_count", challenge.previousFailureCount)
        }
    }

    func request(_ request: Request, didFailTaskEarlyWith error: SessionError) {
        publish(.requestDidFailTaskEarly, request: request) { writer in
            writer.key("error")
            record.write(error, to: &writer)
        }
    }

    func request(_ request: Request, taskDidReceive response: ResponseHead) {
        publish(.taskDidReceiveResponse, request: request) { writer in
            writer.key("response")
            record.write(response, url: request.url, record.eventDetail, to: &writer)
        }
    }

    func request(_ request: Request, taskDidReceiveBytes count: Int) {
        publish(.taskDidReceiveData, request: request) { $0.member("size_bytes", count) }
    }

    func request(_ request: Request, taskWillRedirectTo url: HTTPURL) {
        publish(.taskWillRedirect, request: request) { writer in
            writer.member("status", request.response?.status)
            writer.member(
                "from", request.url.map { TruncatedText.of(record.shown($0), bytes: record.eventDetail.urlBytes) })
            record.write(url: url.description, record.eventDetail, to: &writer)
        }
    }

    func request(_ request: Request, taskDidCollectMetricsOf hops: [Hop]) {
        publish(.taskDidCollectMetrics, request: request) { write(hops, &$0) }
        publishCache(request, hops)
    }

    func request(_ request: Request, taskWillCache proposal: CacheProposal) {
        publish(.taskWillCacheResponse, request: request) { writer in
            writeStore(of: request, to: &writer)
            writer.member("status", proposal.head.status)
            writer.member("size_bytes", proposal.body.count)
            if let ttl = proposal.ttlMilliseconds, ttl >= 0 { writer.member("ttl_ms", ttl) }
            writer.member("storage", proposal.storage.rawValue)
        }
    }

    /// What the cache did for the hops of a task.
    private func publishCache(_ request: Request, _ hops: [Hop]) {
        for hop in hops {
            guard let outcome = hop.metrics?.cache else { continue }
            switch outcome.status {
            case .hit, .stale:
                publish(.cacheHit, request: request) { writer in
                    writeStore(of: request, hop, to: &writer)
                    writer.member("status", outcome.status.rawValue)
                    writer.member("reason", outcome.reason)
                    writer.member("age_ms", outcome.ageMilliseconds ?? 0)
                    if let ttl = outcome.ttlMilliseconds { writer.member("ttl_ms", ttl) }
                }
            case .revalidated:
                publish(.cacheRevalidated, request: request) { writeStore(of: request, hop, to: &$0) }
            case .collapsed:
                publish(.cacheCollapsed, request: request) { writeStore(of: request, hop, to: &$0) }
            case .miss, .bypass: break
            }
        }
    }

    private func writeStore(of request: Request, _ hop: Hop? = nil, to writer: inout JSONWriter) {
        writer.member("store", request.session.cacheStoreName?.name ?? request.session.name)
        let url = hop?.url ?? request.attempts.last?.hops.last?.url
        record.write(url: url?.description ?? request.parameters.url, record.eventDetail, to: &writer)
    }

    func request(_ request: Request, taskDidCompleteWith error: TransportError?) {
        publish(.taskDidComplete, request: request) { $0.member("error", error?.code.rawValue) }
    }

    func requestDidCreateTask(_ request: Request) { publish(.requestDidCreateTask, request: request) }

    func request(_ request: Request, didGatherMetricsOf hops: [Hop]) {
        publish(.requestDidGatherMetrics, request: request) { write(hops, &$0) }
    }

    func request(_ request: Request, didCompleteTaskWith error: TransportError?) {
        publish(.requestDidCompleteTask, request: request) { $0.member("error", error?.code.rawValue) }
        notify(.notificationDidCompleteTask, request)
    }

    func requestDidResume(_ request: Request) {
        publish(.requestDidResume, request: request) { writeTarget(request, &$0) }
        notify(.notificationDidResume, request)
    }

    func requestDidResumeTask(_ request: Request) {
        publish(.requestDidResumeTask, request: request)
        notify(.notificationDidResumeTask, request)
    }

    func requestDidSuspend(_ request: Request) {
        publish(.requestDidSuspend, request: request)
        notify(.notificationDidSuspend, request)
    }

    func requestDidSuspendTask(_ request: Request) {
        publish(.requestDidSuspendTask, request: request)
        notify(.notificationDidSuspendTask, request)
    }

    func requestDidCancel(_ request: Request) {
        publish(.requestDidCancel, request: request)
        notify(.notificationDidCancel, request)
    }

    func requestDidCancelTask(_ request: Request) {
        publish(.requestDidCancelTask, request: request)
        notify(.notificationDidCancelTask, request)
    }

    // MARK: The pool's steps

    func connectionDidOpen(_ id: Int, origin: Origin, user: UInt32?) {
        publish(.poolConnectionOpened, about: EventSubject(session: nil, uid: user ?? owner)) { writer in
            writer.member("connection", id)
            writer.member("origin", origin.description)
        }
    }

    func connectionDidClose(_ id: Int, origin: Origin, user: UInt32?, transfers: Int) {
        publish(.poolConnectionClosed, about: EventSubject(session: nil, uid: user ?? owner)) { writer in
            writer.member("connection", id)
            writer.member("origin", origin.description)
            writer.member("transfers", transfers)
        }
    }
}
