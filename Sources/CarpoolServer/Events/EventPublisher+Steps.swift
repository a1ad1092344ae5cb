internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession

// The steps of tasks, what is done to requests, and the pool's connections.
extension EventPublisher {
    func sessionDidBecomeInvalid(_ session: Session) {
        publish(
            "session.did_become_invalid", about: EventSubject(session: session.name, uid: session.user ?? owner))
    }

    func request(_ request: Request, taskDidReceive challenge: AuthenticationChallenge) {
        publish("task.did_receive_challenge", request: request) { writer in
            writer.member("method", challenge.method.rawValue)
            writer.member("host", challenge.host)
            writer.member("port", challenge.port)
            writer.member("realm", challenge.realm.map { BoundedText.of($0, bytes: record.eventDetail.urlBytes) })
            writer.member("previous_failure_count", challenge.previousFailureCount)
        }
    }

    func request(_ request: Request, didFailTaskEarlyWith error: SessionError) {
        publish("request.did_fail_task_early", request: request) { writer in
            writer.key("error")
            record.write(error, to: &writer)
        }
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
            writer.member(
                "from", request.url.map { BoundedText.of(record.shown($0), bytes: record.eventDetail.urlBytes) })
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
        notify("notification.did_complete_task", request)
    }

    func requestDidResume(_ request: Request) {
        publish("request.did_resume", request: request) { writeTarget(request, &$0) }
        notify("notification.did_resume", request)
    }

    func requestDidResumeTask(_ request: Request) {
        publish("request.did_resume_task", request: request)
        notify("notification.did_resume_task", request)
    }

    func requestDidSuspend(_ request: Request) {
        publish("request.did_suspend", request: request)
        notify("notification.did_suspend", request)
    }

    func requestDidSuspendTask(_ request: Request) {
        publish("request.did_suspend_task", request: request)
        notify("notification.did_suspend_task", request)
    }

    func requestDidCancel(_ request: Request) {
        publish("request.did_cancel", request: request)
        notify("notification.did_cancel", request)
    }

    func requestDidCancelTask(_ request: Request) {
        publish("request.did_cancel_task", request: request)
        notify("notification.did_cancel_task", request)
    }

    // MARK: The pool's steps

    func connectionDidOpen(_ id: Int, origin: Origin, user: UInt32?) {
        publish("pool.connection_opened", about: EventSubject(session: nil, uid: user ?? owner)) { writer in
            writer.member("connection", id)
            writer.member("origin", origin.description)
        }
    }

    func connectionDidClose(_ id: Int, origin: Origin, user: UInt32?, transfers: Int) {
        publish("pool.connection_closed", about: EventSubject(session: nil, uid: user ?? owner)) { writer in
            writer.member("connection", id)
            writer.member("origin", origin.description)
            writer.member("transfers", transfers)
        }
    }
}
