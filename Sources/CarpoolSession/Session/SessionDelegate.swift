internal import CarpoolHTTP

/// Maps the events of transfers to their requests, and passes them on to the session (SD-01).
final class SessionDelegate: TransferDelegate {
    var tasks = RequestTaskMap()

    private func running(_ transfer: any TransportTask) -> Request? {
        guard let request = tasks[transfer], !request.isOver else { return nil }
        return request
    }

    func transferDidStart(_ transfer: any TransportTask) {
        guard let request = running(transfer) else { return }
        request.session.didStart(transfer, for: request)
    }

    func transferDidSecureConnection(_ transfer: any TransportTask) {
        guard let request = running(transfer) else { return }
        let challenge = AuthenticationChallenge(serverTrustOf: transfer.request)
        request.session.notify(.taskDidReceiveChallenge(challenge), of: request)
    }

    func transfer(_ transfer: any TransportTask, didReceive head: ResponseHead) {
        guard let request = running(transfer) else { return }
        request.session.didReceive(head, of: transfer, for: request)
    }

    func transfer(_ transfer: any TransportTask, didReceive bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        guard let request = running(transfer) else { return .stop }
        return request.session.didReceive(bytes, for: request)
    }

    func transfer(_ transfer: any TransportTask, didSendBodyBytes count: Int) {
        guard let request = tasks[transfer] else { return }
        request.session.didSend(count, of: transfer, for: request)
    }

    func transferDidComplete(_ transfer: any TransportTask, _ completion: TransferCompletion) {
        guard let request = tasks[transfer] else { return }
        request.session.didComplete(transfer, completion, for: request)
    }
}
