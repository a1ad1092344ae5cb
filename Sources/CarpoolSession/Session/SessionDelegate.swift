internal import CarpoolHTTP

/// Maps the events of transfers to their requests, and passes them on to the session (SD-01).
final class SessionDelegate: TransferDelegate {
    private unowned let session: Session

    /// Makes the delegate of a session, which lives as long as it has tasks.
    init(_ session: Session) { self.session = session }

    private func running(_ transfer: any TransportTask) -> Request? {
        guard let request = session.tasks[transfer], !request.isOver else { return nil }
        return request
    }

    func transferDidStart(_ transfer: any TransportTask) {
        guard let request = running(transfer) else { return }
        session.didStart(transfer, for: request)
    }

    func transferDidSecureConnection(_ transfer: any TransportTask) {
        guard let request = running(transfer) else { return }
        let challenge = AuthenticationChallenge(serverTrustOf: transfer.request)
        session.notify(.taskDidReceiveChallenge(challenge), of: request)
    }

    func transfer(_ transfer: any TransportTask, didReceive head: ResponseHead) {
        guard let request = running(transfer) else { return }
        session.didReceive(head, of: transfer, for: request)
    }

    func transfer(_ transfer: any TransportTask, didReceive bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        guard let request = running(transfer) else { return .stop }
        return session.didReceive(bytes, for: request)
    }

    func transfer(_ transfer: any TransportTask, pathForBodyOf count: Int) -> String? {
        running(transfer).flatMap { session.pathForBody(of: count, for: $0) }
    }

    func transfer(_ transfer: any TransportTask, didReceiveFileOf count: Int, at path: String) {
        guard let request = session.tasks[transfer] else { return }
        session.didReceiveFile(of: count, at: path, for: request)
    }

    func transfer(_ transfer: any TransportTask, didSendBodyBytes count: Int) {
        guard let request = session.tasks[transfer] else { return }
        session.didSend(count, of: transfer, for: request)
    }

    func transfer(_ transfer: any TransportTask, didValidateBy head: ResponseHead) {
        guard let request = running(transfer) else { return }
        session.storeCookies(of: head, to: transfer.request, for: request)
    }

    func transfer(_ transfer: any TransportTask, proposesToStore proposal: CacheProposal) {
        guard let request = session.tasks[transfer] else { return proposal.decide(.doNotStore) }
        session.willCache(proposal, for: request)
    }

    func transferDidComplete(_ transfer: any TransportTask, _ completion: TransferCompletion) {
        guard let request = session.tasks[transfer] else { return }
        session.didComplete(transfer, completion, for: request)
    }
}

extension Session {
    /// Makes what receives the events of the session's transfers.
    func makeDelegate() -> any TransferDelegate { SessionDelegate(self) }
}
