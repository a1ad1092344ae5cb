internal import CarpoolHTTP

// What a task brings in: pieces of the body, and what was found wrong with its server.
extension Session {
    /// A piece of the body has come, of a request that is no download.
    func didReceive(_ count: Int, for request: Request) {
        notify(.taskDidReceiveData(count), of: request)
        if request.receivePace.step(count, at: scheduler.now) { tellProgress(of: request) }
    }

    /// A task is about to be told to be over.
    func willEndTask(_ request: Request, _ error: TransportError?, _ sent: TransportRequest) {
        guard let error else {
            // The whole is known now, whatever the head said, or did not say, of its length.
            let count = request.receivePace.count
            if count > 0 { notify(.didProgress(count, total: count), of: request) }
            return
        }
        guard error.code.isAboutServerTrust else { return }
        notify(.taskDidReceiveChallenge(AuthenticationChallenge(serverTrustOf: sent)), of: request)
        // Where nobody has said whom to trust, it is the system's verdict, and the transport's error alone (§2.11).
        guard sent.partition.trust != .system else { return }
        notify(.didFailTaskEarly(.sessionTaskFailed(error)), of: request)
    }

    private func tellProgress(of request: Request) {
        let fields = request.response?.fields
        let isEncoded = fields?.first("content-encoding") != nil
        let total = isEncoded ? nil : fields?.first("content-length").flatMap { Int64($0) }
        notify(.didProgress(request.receivePace.count, total: total), of: request)
    }
}

extension TransportError.Code {
    /// Whether the certificate that the server has shown is the reason.
    fileprivate var isAboutServerTrust: Bool {
        [
            .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateNotYetValid,
            .serverCertificateHasUnknownRoot,
        ].contains(self)
    }
}
