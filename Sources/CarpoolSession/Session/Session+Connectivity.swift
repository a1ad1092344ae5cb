internal import CarpoolHTTP
internal import CarpoolSystem
internal import Glibc

// Effects of network changes on requests.
extension Session {
    /// How often a task that waits for the network is sent again at once when the path is usable but the kernel reports
    /// no route: more than a race with a network change can cause.
    private static let maximumImmediateResends = 3

    private func waitsForConnectivity(_ request: Request) -> Bool {
        request.parameters.options.waitsForConnectivity.value
    }

    // MARK: Waiting

    /// Returns why there is no path to a hop's host; `nil` if there is one. Where the default route works, a request
    /// that does not wait skips the check.
    func missingPath(for hop: TransportRequest, of request: Request) -> NetworkPath? {
        guard let connectivity, connectivity.isOffline || waitsForConnectivity(request) else { return nil }
        // The connection may go elsewhere than to the URL's host, or by another interface.
        guard hop.partition.addresses == nil else { return nil }
        let path = connectivity.path(to: hop.reachedHost, isFresh: false)
        return path.isWorthTrying ? nil : path
    }

    /// Pauses a hop if the request waits for connectivity: the transport then counts only the resource timeout, and
    /// queues the hop normally when it is sent. Otherwise the hop is sent all the same, to get the kernel's error for
    /// the missing path: over a pooled connection, which is kept for later, no error would come.
    func sendWithoutPath(_ hop: TransportRequest, for request: Request, _ path: NetworkPath) {
        guard waitsForConnectivity(request) else {
            var hop = hop
            hop.needsFreshConnection = true
            _ = begin(hop, for: request)
            return
        }
        let transfer = begin(hop, for: request)
        // A stored response needs no path.
        if transfer.needsNetwork { wait(with: transfer, of: request, path) }
    }

    private func wait(with transfer: any TransportTask, of request: Request, _ path: NetworkPath) {
        guard let connectivity else { return }
        transfer.pause()
        let history = request.networkHistory
        history.wait = PathWait(for: transfer.request.reachedHost, connectivity) { [self] in
            history.wait = nil
            request.machine.pauseReasons.remove(.path)
            proceed(request)
        }
        request.machine.pauseReasons.insert(.path)
        guard !history.hasReportedWait else { return }
        // Not before the caller that resumed the request has the event of its task (EM-27).
        scheduler.arm(
            Timer { [self] in
                guard history.wait != nil, !history.hasReportedWait else { return }
                history.hasReportedWait = true
                notify(.taskIsWaitingForConnectivity(path), of: request)
            }, afterMilliseconds: 0)
    }

    /// Sends a failed hop again, now or when there is a path, if nothing of it was sent and there was no path. Returns
    /// whether it does.
    func resendIfUnreachable(_ request: Request, after completion: TransferCompletion, of transfer: any TransportTask)
        -> Bool
    {
        guard let failure = completion.error, waitsForConnectivity(request), let connectivity,
            completion.metrics.requestMicroseconds == nil, request.error == nil, !request.isOver,
            request.state != .cancelled, !request.isAborted, transfer.request.body.canBeSent
        else { return false }
        let path = connectivity.path(to: transfer.request.reachedHost, isFresh: true)
        guard failure.reclassified(for: path).code == .notConnectedToInternet else { return false }
        let history = request.networkHistory
        if path.isUsable {
            history.immediateResends += 1
            guard history.immediateResends <= Session.maximumImmediateResends else { return false }
        }
        let next = transfer.request
        // Nothing was sent: the same hop is sent later.
        request.attempts[request.attempts.count - 1].hops.removeLast()
        let resent = begin(next, for: request)
        if !path.isUsable { wait(with: resent, of: request, path) }
        if request.isPaused { resent.pause() }
        return true
    }

    // MARK: Classifying failures

    /// Reclassifies a transport error by the state of the network. Returns it, and the request's failure with that
    /// state among its details.
    func classify(_ error: TransportError, of request: Request) -> (error: TransportError, failure: SessionError) {
        guard let connectivity, error.mayBeNetworkFailure, let host = request.attempts.last?.hops.last?.url.origin.host
        else { return (error, .sessionTaskFailed(error)) }
        let path = connectivity.path(to: host, isFresh: true)
        let classified = error.reclassified(for: path)
        let facts = path.facts(hasLost: connectivity.losses != request.lossesAtStart)
        return (classified, .sessionTaskFailed(classified, details: [.init("reachability", .facts(facts))]))
    }
}

extension TransportRequest {
    /// The host to which the connection is made: the URL's, or that of a proxy.
    fileprivate var reachedHost: String { firstProxyHost ?? url.origin.host }
}

extension TransportError {
    /// Whether the state of the network may explain the failure: not if a server has answered.
    fileprivate var mayBeNetworkFailure: Bool {
        switch code {
        case .notConnectedToInternet, .cannotFindHost, .timedOut, .networkConnectionLost: true
        case .cannotConnectToHost: systemCode != ECONNREFUSED
        default: false
        }
    }

    /// Returns the error that the state of the network explains better: "not connected" for a name that no DNS server
    /// could be asked for, and for a host behind a rejecting route.
    func reclassified(for path: NetworkPath) -> TransportError {
        let isOffline =
            switch code {
            case .cannotFindHost: !path.isUsable || !path.supportsDNS
            case .cannotConnectToHost:
                !path.isUsable
                    && (systemCode == EHOSTUNREACH || systemCode == EACCES || systemCode == EINVAL)
            default: false
            }
        guard isOffline else { return self }
        return TransportError(
            .notConnectedToInternet, message, curlCode: curlCode, curlText: curlText, systemCode: systemCode,
            timeout: timeout, isRetryable: true)
    }
}

extension Request {
    /// The request's history with the network, created when first needed.
    var networkHistory: NetworkHistory {
        if let network { return network }
        let made = NetworkHistory()
        network = made
        return made
    }

    /// Ends the task's wait for a path to its host.
    func endPathWait() {
        network?.endWait()
        machine.pauseReasons.remove(.path)
    }
}
