/// The order and the limits of admission.
extension AdmissionQueue {
    /// Admits the next element; called until it returns `nil`.
    mutating func next() -> Admission? {
        if let admission = admitParked() { return admission }
        while let origin = ready.popFirst() {
            origins[origin].isReady = false
            if let admission = admit(from: origin) { return admission }
        }
        return nil
    }

    /// Maximum number of flows checked by one search, so that it does not block the loop.
    private static var longestSearch: Int { 64 }

    private mutating func admitParked() -> Admission? {
        guard hasFreedConnections, connections < limits.connections else { return nil }
        let count = parked.count
        for _ in 0..<min(count, AdmissionQueue.longestSearch) {
            guard let (rank, flow) = parked.popFirst() else { break }
            let origin = flows[flow].origin
            guard leaveParked(flow, rank), flows[flow].isParked else { continue }
            unpark(flow)
            if flows[flow].queues[rank].isEmpty || isAtLimit(flow) || isFull(origin) || !mayTakeStream(flow) {
                addToRing(flow)
                markReady(origin)
                dropIfIdle(flow)
            } else if !needsConnection(origin) || mayConnect(flow) {
                return admit(flow, rank)
            } else {
                park(flow)
            }
        }
        hasFreedConnections = count > AdmissionQueue.longestSearch
        return nil
    }

    private mutating func admit(from origin: OriginID) -> Admission? {
        var searched = 0
        while !isFull(origin), searched < AdmissionQueue.longestSearch,
            let (rank, flow) = origins[origin].ring.popFirst()
        {
            flows[flow].ringRanks &= ~(1 << rank)
            guard !waitsForConnection(flow), !flows[flow].queues[rank].isEmpty, !isAtLimit(flow) else {
                dropIfIdle(flow)
                continue
            }
            if flows[flow].turnsToSkip > 0 {
                // A client that is alone skips no turn.
                flows[flow].turnsToSkip = origins[origin].ring.isEmpty ? 0 : flows[flow].turnsToSkip - 1
                addToRing(flow)
            } else if !mayTakeStream(flow) {
                // It stays in the ring: the next free stream may be for it.
                searched += 1
                addToRing(flow)
            } else if needsConnection(origin), !mayConnect(flow) {
                park(flow)
            } else {
                return admit(flow, rank)
            }
        }
        return nil
    }

    private mutating func admit(_ flow: Int, _ rank: Int) -> Admission? {
        let origin = flows[flow].origin
        let isFirst = origins[origin].protocolState == .cold
        guard let element = editQueue(flow, rank, by: -1, { $0.popFirst() }) else { return nil }
        addActive(1, to: flow)
        if isFirst { origins[origin].protocolState = .probing }
        addToRing(flow)
        markReady(origin)
        return Admission(element: element, isFirst: isFirst)
    }

    // MARK: Parked flows

    private mutating func park(_ flow: Int) {
        flows[flow].isParked = true
        origins[flows[flow].origin].parked += 1
        addToParked(flow)
    }

    /// Adds a parked flow to the ring once for each priority of its elements, including later ones.
    private mutating func addToParked(_ flow: Int) {
        for rank in 0..<3 where flows[flow].parkedRanks & (1 << rank) == 0 && !flows[flow].queues[rank].isEmpty {
            flows[flow].parkedRanks |= 1 << rank
            parked.append(
                flow, rank: rank, key: flows[flow].share.user, isFresh: accounts[flows[flow].account].connections == 0)
        }
    }

    /// An entry of a flow was removed from the parked ring. Returns false if the flow was released meanwhile; its
    /// number is free with the last entry.
    private mutating func leaveParked(_ flow: Int, _ rank: Int) -> Bool {
        flows[flow].parkedRanks &= ~(1 << rank)
        guard flows[flow].isReleased else { return true }
        if flows[flow].parkedRanks == 0 { freeFlows.append(flow) }
        return false
    }

    /// A flow no longer waits for a connection. Other entries of it may stay in the ring, without effect until it is
    /// parked again.
    private mutating func unpark(_ flow: Int) {
        flows[flow].isParked = false
        origins[flows[flow].origin].parked -= 1
    }

    /// Whether a flow is parked and its origin has no connection to share.
    func waitsForConnection(_ flow: Int) -> Bool { flows[flow].isParked && needsConnection(flows[flow].origin) }

    /// An origin has a connection to share: its parked flows may be admitted. They stay parked in case that it ends
    /// before.
    private mutating func addParkedToRing(of origin: OriginID) {
        for flow in origins[origin].flows.values where flows[flow].isParked { addToRing(flow) }
        markReady(origin)
    }

    // MARK: Rules

    /// Whether an origin has reached its limit of running elements.
    func isFull(_ origin: OriginID) -> Bool {
        let capacity =
            switch origins[origin].protocolState {
            case .cold: 1
            case .probing: 0
            case .undecided, .http1: origins[origin].connections
            case .http2: limits.streamsPerConnection
            }
        return origins[origin].active >= capacity
    }

    /// Whether a client has as many connections to an origin as one client may have.
    func isAtLimit(_ flow: Int) -> Bool {
        let origin = flows[flow].origin
        return origins[origin].protocolState != .http2 && flows[flow].active >= flows[flow].connections
    }

    /// Sets how many connections a flow gets, with its next element.
    mutating func setConnections(_ connections: Int, of flow: Int) {
        let origin = flows[flow].origin
        let standard = origins[origin].connectionsPerClient
        let wanted = connections > 0 ? min(connections, max(standard, origins[origin].connections / 2)) : standard
        guard wanted != flows[flow].connections else { return }
        let isIdle = flows[flow].active == 0 && flows[flow].waiting == 0
        if isIdle || wanted > flows[flow].connections { flows[flow].connections = wanted }
    }

    private func needsConnection(_ origin: OriginID) -> Bool {
        origins[origin].protocolState != .http2 || origins[origin].active == 0
    }

    /// Whether a flow may use another connection: a client gets no more than are left for others, and all clients of
    /// a user no more than three times that. So one client alone gets half of all, a second one half of the rest.
    private func mayConnect(_ flow: Int) -> Bool {
        let free = limits.connections - connections
        guard free > 0 else { return false }
        guard limits.reservesConnections else { return true }
        let account = accounts[flows[flow].account]
        return account.connections < free && users[account.user].connections < 3 * free
    }

    /// Whether an HTTP/2 origin has a stream for a flow: a client gets at most three times as many as it leaves free,
    /// and all clients of a user seven times. So one client alone gets 75 streams of 100, and its slow responses
    /// leave some for the next client.
    func mayTakeStream(_ flow: Int) -> Bool {
        let origin = flows[flow].origin
        guard origins[origin].protocolState == .http2, limits.reservesConnections else { return true }
        let free = limits.streamsPerConnection - origins[origin].active
        // Most often there is room for all.
        guard origins[origin].active >= 3 * free else { return true }
        guard flows[flow].active < 3 * free else { return false }
        return origins[origin].activeOfUser[flows[flow].share.user, default: 0] < 7 * free
    }

    func cost(of origin: OriginID) -> Int {
        origins[origin].protocolState == .http2 ? min(origins[origin].active, 1) : origins[origin].active
    }

    // MARK: Counts

    /// Changes the number of elements under way of a flow, with all sums and accounts. Nothing else changes them.
    mutating func addActive(_ change: Int, to flow: Int) {
        let origin = flows[flow].origin
        let before = cost(of: origin)
        origins[origin].active += change
        flows[flow].active += change
        loads[origins[origin].owner].active += change
        if origins[origin].mayMultiplex { updateBusy(flow, change) }
        let difference = cost(of: origin) - before
        connections += difference
        if origins[origin].protocolState != .http2 {
            charge(flows[flow].account, change)
        } else if difference > 0 {
            origins[origin].chargedAccount = flows[flow].account
            charge(flows[flow].account, 1)
            if origins[origin].parked > 0 { addParkedToRing(of: origin) }
        } else if difference < 0 {
            charge(origins[origin].chargedAccount, -1)
        } else if flows[flow].active == 0, origins[origin].chargedAccount == flows[flow].account {
            reassignCharge(origin)
        }
        guard change < 0 else { return }
        addToRing(flow)
        markReady(origin)
    }

    /// Keeps the list of an origin's flows with running elements, and their counts per user, so that queries need
    /// not visit flows that only wait, of which there may be thousands.
    private mutating func updateBusy(_ flow: Int, _ change: Int) {
        let origin = flows[flow].origin
        if origins[origin].protocolState == .http2 { count(change, of: flows[flow].share.user, in: origin) }
        let slot = flows[flow].busyIndex
        if flows[flow].active > 0, slot < 0 {
            flows[flow].busyIndex = origins[origin].busy.count
            origins[origin].busy.append(flow)
        } else if flows[flow].active == 0, slot >= 0 {
            flows[flow].busyIndex = -1
            guard let last = origins[origin].busy.popLast(), last != flow else { return }
            origins[origin].busy[slot] = last
            flows[last].busyIndex = slot
        }
    }

    private mutating func count(_ change: Int, of user: UInt32, in origin: OriginID) {
        let sum = origins[origin].activeOfUser[user, default: 0] + change
        origins[origin].activeOfUser[user] = sum > 0 ? sum : nil
    }

    /// Recounts the running elements of each user, when the protocol of the origin has changed.
    mutating func countUsers(of origin: OriginID) {
        origins[origin].activeOfUser = [:]
        guard origins[origin].protocolState == .http2 else { return }
        for flow in origins[origin].busy { count(flows[flow].active, of: flows[flow].share.user, in: origin) }
    }

    /// The client that is charged for the connection of an HTTP/2 origin has no stream left: another one that has is
    /// charged from now on.
    private mutating func reassignCharge(_ origin: OriginID) {
        charge(origins[origin].chargedAccount, -1)
        origins[origin].chargedAccount = accountToCharge(of: origin)
        charge(origins[origin].chargedAccount, 1)
    }

    /// The account of a flow that uses the connection of an origin; -1 if there is none.
    func accountToCharge(of origin: OriginID) -> Int {
        origins[origin].busy.first.map { flows[$0].account } ?? -1
    }

    private mutating func charge(_ account: Int, _ count: Int) {
        guard accounts.indices.contains(account), count != 0 else { return }
        accounts[account].connections += count
        users[accounts[account].user].connections += count
        if count < 0 { hasFreedConnections = true }
    }

    mutating func chargeAll(of origin: OriginID, _ sign: Int) {
        if origins[origin].protocolState == .http2 {
            charge(origins[origin].chargedAccount, sign * cost(of: origin))
        } else {
            for flow in origins[origin].busy { charge(flows[flow].account, sign * flows[flow].active) }
        }
    }

    /// Changes a queue of a flow, and updates the counts.
    @discardableResult mutating func editQueue<Result>(
        _ flow: Int, _ rank: Int, by change: Int, _ body: (inout FIFOQueue<Element>) -> Result
    ) -> Result {
        let result = body(&flows[flow].queues[rank])
        waiting += change
        flows[flow].waiting += change
        let origin = flows[flow].origin
        origins[origin].waiting += change
        loads[origins[origin].owner].waiting += change
        return result
    }

    /// Adds a flow to the rings of its origin if it may send its elements.
    mutating func addToRing(_ flow: Int, isFresh: Bool = false) {
        if flows[flow].isParked { addToParked(flow) }
        guard flows[flow].waiting > 0, !waitsForConnection(flow), !isAtLimit(flow) else { return }
        for rank in 0..<3 where flows[flow].ringRanks & (1 << rank) == 0 && !flows[flow].queues[rank].isEmpty {
            flows[flow].ringRanks |= 1 << rank
            origins[flows[flow].origin].ring.append(flow, rank: rank, key: flows[flow].share.user, isFresh: isFresh)
        }
    }

    mutating func markReady(_ origin: OriginID) {
        guard !origins[origin].isReady, !origins[origin].ring.isEmpty, !isFull(origin) else { return }
        origins[origin].isReady = true
        _ = ready.append(origin)
    }

    // MARK: Flows

    mutating func flow(of share: TransferShare, in origin: OriginID) -> Int {
        let last = origins[origin].lastFlow
        if last >= 0, flows[last].share == share { return last }
        let flow = origins[origin].flows[share] ?? addFlow(of: share, in: origin)
        origins[origin].lastFlow = flow
        return flow
    }

    private mutating func addFlow(of share: TransferShare, in origin: OriginID) -> Int {
        let account = accountOfShare[share] ?? addAccount(share)
        accounts[account].flows += 1
        let state = Flow(
            share: share, origin: origin, account: account, connections: origins[origin].connectionsPerClient)
        let flow = freeFlows.popLast() ?? flows.count
        if flow == flows.count { flows.append(state) } else { flows[flow] = state }
        origins[origin].flows[share] = flow
        return flow
    }

    private mutating func addAccount(_ share: TransferShare) -> Int {
        let user = userOfNumber[share.user] ?? freeUsers.popLast() ?? users.count
        if user == users.count { users.append(User()) }
        userOfNumber[share.user] = user
        users[user].accounts += 1
        let state = Account(share: share, user: user)
        let account = freeAccounts.popLast() ?? accounts.count
        if account == accounts.count { accounts.append(state) } else { accounts[account] = state }
        accountOfShare[share] = account
        return account
    }

    /// Idle flows of an origin that are kept.
    private static var keptFlows: Int { 16 }

    mutating func dropIfIdle(_ flow: Int) {
        let state = flows[flow]
        guard state.waiting == 0, state.active == 0, state.paused == 0, state.ringRanks == 0,
            origins[state.origin].flows.count > AdmissionQueue.keptFlows
        else { return }
        origins[state.origin].flows[state.share] = nil
        if origins[state.origin].lastFlow == flow { origins[state.origin].lastFlow = -1 }
        release(flow)
    }

    /// Entries of empty flows that a ring keeps, in addition to as many as there are others.
    private static var keptEntries: Int { 64 }

    /// Removes entries of empty flows from the rings, if they are many: while an origin is busy nothing else does.
    mutating func sweepRings(of origin: OriginID) {
        if origins[origin].ring.count > 2 * origins[origin].waiting + AdmissionQueue.keptEntries {
            sweepRing(of: origin)
        }
        if parked.count > 2 * waiting + AdmissionQueue.keptEntries { sweepParked() }
    }

    private mutating func sweepRing(of origin: OriginID) {
        var (ring, idle) = (origins[origin].ring, [Int]())
        origins[origin].ring = PriorityRing()
        ring.removeAll { rank, flow in
            guard flows[flow].queues[rank].isEmpty else { return false }
            flows[flow].ringRanks &= ~(1 << rank)
            if flows[flow].ringRanks == 0 { idle.append(flow) }
            return true
        }
        origins[origin].ring = ring
        for flow in idle { dropIfIdle(flow) }
    }

    private mutating func sweepParked() {
        var (ring, idle) = (parked, [Int]())
        parked = PriorityRing()
        ring.removeAll { rank, flow in
            let isWanted = flows[flow].isParked && !flows[flow].queues[rank].isEmpty
            guard flows[flow].isReleased || !isWanted else { return false }
            if leaveParked(flow, rank), flows[flow].isParked, flows[flow].parkedRanks == 0 { idle.append(flow) }
            return true
        }
        parked = ring
        for flow in idle {
            unpark(flow)
            dropIfIdle(flow)
        }
    }

    /// Frees a flow's number, and the account of its client with its last flow.
    mutating func release(_ flow: Int) {
        let account = flows[flow].account
        accounts[account].flows -= 1
        if accounts[account].flows == 0 {
            let (share, user) = (accounts[account].share, accounts[account].user)
            accountOfShare[share] = nil
            freeAccounts.append(account)
            users[user].accounts -= 1
            if users[user].accounts == 0 {
                userOfNumber[share.user] = nil
                users[user] = User()
                freeUsers.append(user)
            }
        }
        if flows[flow].isParked { unpark(flow) }
        // Its number may still be in the ring of the parked.
        if flows[flow].parkedRanks == 0 { freeFlows.append(flow) } else { flows[flow].isReleased = true }
    }
}
