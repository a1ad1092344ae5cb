internal import CarpoolHTTP
internal import CarpoolSystem
internal import Glibc

// Effects of network changes on requests.
extension Session {
    /// How often a task that waits for the network is sent again at once when the path is usable but the kernel reports no route:
    /// more than a race with a network change can cause.
    private static let maximumContradictions = 3

    private func waitsForConnectivity(_ request: Request) -> Bool {
        request.parameters.options.waitsForConnectivity.value
    }

    // MARK: Waiting

    /// Returns why there is no path to a hop's host; `nil` if there is one. Where the default route works, a request
    /// that does not wait skips the check.
    func missingPath(for hop: TransportRequest, of request: Request) -> NetworkPath? {
        guard let connectivity, connectivity.isOffline || waitsForConnectivity(request) else { return nil }
        let path = connectivity.path(to: hop.url.origin.host, isFresh: false)
        return path.isWorthTrying ? nil : path
    }

    /// Holds a hop back if the request waits for connectivity: the transport then counts only the resource timeout, and queues the hop normally
    /// when it is sent. Otherwise the hop is sent all the same, to get the kernel's error for the missing path: over a
    /// pooled connection, which is kept for later, no error would come.
    func sendWithoutPath(_ hop: TransportRequest, for request: Request, _ path: NetworkPath) {
        guard waitsForConnectivity(request) else {
            var hop = hop
            hop.needsFreshConnection = true
            _ = begin(hop, for: request)
            return
        }
        wait(with: begin(hop, for: request), of: request, path)
    }

    private func wait(with transfer: any TransportTask, of request: Request, _ path: NetworkPath) {
        guard let connectivity else { return }
        transfer.pause()
        let history = request.networkHistory
        history.wait = PathWait(for: transfer.request.url.origin.host, connectivity) { [self] in
            history.wait = nil
            request.machine.holds.remove(.path)
            proceed(request)
        }
        request.machine.holds.insert(.path)
        guard !history.hasToldWait else { return }
        // Not before the caller that resumed the request has the event of its task (EM-27).
        scheduler.arm(
            Timer { [self] in
                guard history.wait != nil, !history.hasToldWait else { return }
                history.hasToldWait = true
                notify(.taskIsWaitingForConnectivity(path), of: request)
            }, afterMilliseconds: 0)
    }

    /// Whether a hop that has failed waits for a path and is sent again, because nothing of it was sent and there was no path.
    func waitsAgain(_ request: Request, after completion: TransferCompletion, of transfer: any TransportTask) -> Bool {
        guard let failure = completion.error, waitsForConnectivity(request), let connectivity,
            completion.metrics.requestMicroseconds == nil, request.error == nil, !request.isOver,
            request.state != .cancelled, !request.isLost, transfer.request.body.canBeSent
        else { return false }
        let path = connectivity.path(to: transfer.request.url.origin.host, isFresh: true)
        guard failure.judged(by: path).code == .notConnectedToInternet else { return false }
        let history = request.networkHistory
        if path.isUsable {
            history.contradictions += 1
            guard history.contradictions <= Session.maximumContradictions else { return false }
        }
        var next = transfer.request
        let spent = completion.metrics.endMicroseconds / 1_000
        next.resourceTimeoutMilliseconds = max(1, next.resourceTimeoutMilliseconds &- spent)
        // Nothing was sent: the same hop is sent later.
        request.attempts[request.attempts.count - 1].hops.removeLast()
        let again = begin(next, for: request)
        if !path.isUsable { wait(with: again, of: request, path) }
        if request.isHeldUp { again.pause() }
        return true
    }

    // MARK: Explaining

    /// Returns the failure, renamed by what is known of the network, and that knowledge.
    func explain(_ error: TransportError, of request: Request) -> (error: TransportError, failure: SessionError) {
        guard let connectivity, error.mayBeTheNetworks, let host = request.attempts.last?.hops.last?.url.origin.host
        else { return (error, .sessionTaskFailed(error)) }
        let path = connectivity.path(to: host, isFresh: true)
        let judged = error.judged(by: path)
        let facts = path.facts(hasLost: connectivity.losses != request.lossesAtStart)
        return (judged, .sessionTaskFailed(judged, details: [.init("reachability", .facts(facts))]))
    }
}

extension TransportError {
    /// Whether the state of the network may explain the failure: not if a server has answered.
    fileprivate var mayBeTheNetworks: Bool {
        switch code {
        case .notConnectedToInternet, .cannotFindHost, .timedOut, .networkConnectionLost: true
        case .cannotConnectToHost: systemCode != ECONNREFUSED
        default: false
        }
    }

    /// The failure in view of the network's state: a name that no DNS server could be asked for is not unknown, and a host behind a rejecting route
    /// did not time out.
    func judged(by path: NetworkPath) -> TransportError {
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
        machine.holds.remove(.path)
    }
}
