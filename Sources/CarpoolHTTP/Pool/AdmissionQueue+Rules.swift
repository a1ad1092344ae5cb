/// Who goes next, and who may.
extension AdmissionQueue {
    /// The next thing to do; to be called until it gives `nil`.
    mutating func next() -> Admission? {
        if let admission = admitParked() { return admission }
        while let lane = ready.popFirst() {
            lanes[lane].isListed = false
            if let admission = admit(from: lane) { return admission }
        }
        return nil
    }

    /// The flows that one search for a turn looks at: more than that must not hold up the loop.
    private static var longestSearch: Int { 64 }

    private mutating func admitParked() -> Admission? {
        guard hasRoom, connections < limits.connections else { return nil }
        let count = parked.count
        for _ in 0..<min(count, AdmissionQueue.longestSearch) {
            guard let (rank, flow) = parked.popFirst() else { break }
            let lane = flows[flow].lane
            guard leaveRing(flow, rank), flows[flow].isParked else { continue }
            unpark(flow)
            if flows[flow].lines[rank].isEmpty || isAtLimit(flow) || isFull(lane) || !mayTakeStream(flow) {
                enlist(flow)
                list(lane)
                dropIfIdle(flow)
            } else if !needsConnection(lane) || mayConnect(flow) {
                return admit(flow, rank)
            } else {
                park(flow)
            }
        }
        hasRoom = count > AdmissionQueue.longestSearch
        return nil
    }

    private mutating func admit(from lane: Lane) -> Admission? {
        var searched = 0
        while !isFull(lane), searched < AdmissionQueue.longestSearch, let (rank, flow) = lanes[lane].ring.popFirst() {
            flows[flow].ringed &= ~(1 << rank)
            guard !waitsForConnection(flow), !flows[flow].lines[rank].isEmpty, !isAtLimit(flow) else {
                dropIfIdle(flow)
                continue
            }
            if flows[flow].debt > 0 {
                // A client that is alone owes nothing to anybody.
                flows[flow].debt = lanes[lane].ring.isEmpty ? 0 : flows[flow].debt - 1
                enlist(flow)
            } else if !mayTakeStream(flow) {
                // It stays in the ring: the next stream that becomes free, may be for it.
                searched += 1
                enlist(flow)
            } else if needsConnection(lane), !mayConnect(flow) {
                park(flow)
            } else {
                return admit(flow, rank)
            }
        }
        return nil
    }

    private mutating func admit(_ flow: Int, _ rank: Int) -> Admission? {
        let lane = flows[flow].lane
        let isFirst = lanes[lane].speech == .cold
        guard let element = edit(flow, rank, by: -1, { $0.popFirst() }) else { return nil }
        addActive(1, to: flow)
        if isFirst { lanes[lane].speech = .probing }
        enlist(flow)
        list(lane)
        return Admission(element: element, isFirst: isFirst)
    }

    // MARK: The parked

    private mutating func park(_ flow: Int) {
        flows[flow].isParked = true
        lanes[flows[flow].lane].parked += 1
        standByRank(flow)
    }

    /// Has a parked flow stand in the ring once for each priority of what waits in it, also of what came later.
    private mutating func standByRank(_ flow: Int) {
        for rank in 0..<3 where flows[flow].parkedRanks & (1 << rank) == 0 && !flows[flow].lines[rank].isEmpty {
            flows[flow].parkedRanks |= 1 << rank
            parked.append(
                flow, rank: rank, key: flows[flow].share.user, isFresh: parties[flows[flow].party].connections == 0)
        }
    }

    /// An entry of a flow has left the ring of the parked. Returns false if the flow was released meanwhile; its number is free with the last
    /// entry.
    private mutating func leaveRing(_ flow: Int, _ rank: Int) -> Bool {
        flows[flow].parkedRanks &= ~(1 << rank)
        guard flows[flow].isDead else { return true }
        if flows[flow].parkedRanks == 0 { freeFlows.append(flow) }
        return false
    }

    /// A flow does not wait for a connection any more. Other entries of it may stay in the ring, and mean nothing until it is parked again.
    private mutating func unpark(_ flow: Int) {
        flows[flow].isParked = false
        lanes[flows[flow].lane].parked -= 1
    }

    /// Whether a flow may not go before there is a connection for it: one that is parked need not wait while its origin has one to share.
    func waitsForConnection(_ flow: Int) -> Bool { flows[flow].isParked && needsConnection(flows[flow].lane) }

    /// An origin has a connection to share: its parked flows may go. They stay parked besides, in case that it ends before.
    private mutating func enlistParked(of lane: Lane) {
        for flow in lanes[lane].flows.values where flows[flow].isParked { enlist(flow) }
        list(lane)
    }

    // MARK: Rules

    /// Whether an origin gets no more at the moment.
    func isFull(_ lane: Lane) -> Bool {
        let capacity =
            switch lanes[lane].speech {
            case .cold: 1
            case .probing: 0
            case .undecided, .http1: lanes[lane].connections
            case .http2: limits.streamsPerConnection
            }
        return lanes[lane].active >= capacity
    }

    /// Whether a client has all the connections to an origin that one client gets.
    func isAtLimit(_ flow: Int) -> Bool {
        let lane = flows[flow].lane
        return lanes[lane].speech != .http2 && flows[flow].active >= lanes[lane].connectionsPerClient
    }

    private func needsConnection(_ lane: Lane) -> Bool { lanes[lane].speech != .http2 || lanes[lane].active == 0 }

    /// Whether there is a connection for a flow: never more for a client than are left for others, nor for all clients of a user more than
    /// three times that. So one client alone gets half of all, a second one half of the rest.
    private func mayConnect(_ flow: Int) -> Bool {
        let free = limits.connections - connections
        guard free > 0 else { return false }
        guard limits.leavesRoom else { return true }
        let party = parties[flows[flow].party]
        return party.connections < free && users[party.user].connections < 3 * free
    }

    /// Whether an origin that speaks HTTP/2 has a stream for a flow: a client gets at most three times what it leaves free, and all clients of
    /// a user seven times that. So one client alone gets 75 streams of 100, and its slow answers leave some for the next client.
    func mayTakeStream(_ flow: Int) -> Bool {
        let lane = flows[flow].lane
        guard lanes[lane].speech == .http2, limits.leavesRoom else { return true }
        let free = limits.streamsPerConnection - lanes[lane].active
        // Most often there is room for everybody.
        guard lanes[lane].active >= 3 * free else { return true }
        guard flows[flow].active < 3 * free else { return false }
        return lanes[lane].activeOfUser[flows[flow].share.user, default: 0] < 7 * free
    }

    func cost(of lane: Lane) -> Int {
        lanes[lane].speech == .http2 ? min(lanes[lane].active, 1) : lanes[lane].active
    }

    // MARK: Books

    /// Every change of what is under way goes through here, so that the sums and the accounts follow.
    mutating func addActive(_ change: Int, to flow: Int) {
        let lane = flows[flow].lane
        let before = cost(of: lane)
        lanes[lane].active += change
        flows[flow].active += change
        loads[lanes[lane].owner].active += change
        if lanes[lane].mayMultiplex { noteBusy(flow, change) }
        let difference = cost(of: lane) - before
        connections += difference
        if lanes[lane].speech != .http2 {
            charge(flows[flow].party, change)
        } else if difference > 0 {
            lanes[lane].holder = flows[flow].party
            charge(flows[flow].party, 1)
            if lanes[lane].parked > 0 { enlistParked(of: lane) }
        } else if difference < 0 {
            charge(lanes[lane].holder, -1)
        } else if flows[flow].active == 0, lanes[lane].holder == flows[flow].party {
            passOn(lane)
        }
        guard change < 0 else { return }
        enlist(flow)
        list(lane)
    }

    /// Keeps the flows of an origin that have something under way together, and counts for users what they have: questions about those are
    /// answered without a look at the flows that only wait, which may be thousands.
    private mutating func noteBusy(_ flow: Int, _ change: Int) {
        let lane = flows[flow].lane
        if lanes[lane].speech == .http2 { count(change, of: flows[flow].share.user, in: lane) }
        let place = flows[flow].busyPlace
        if flows[flow].active > 0, place < 0 {
            flows[flow].busyPlace = lanes[lane].busy.count
            lanes[lane].busy.append(flow)
        } else if flows[flow].active == 0, place >= 0 {
            flows[flow].busyPlace = -1
            guard let last = lanes[lane].busy.popLast(), last != flow else { return }
            lanes[lane].busy[place] = last
            flows[last].busyPlace = place
        }
    }

    private mutating func count(_ change: Int, of user: UInt32, in lane: Lane) {
        let sum = lanes[lane].activeOfUser[user, default: 0] + change
        lanes[lane].activeOfUser[user] = sum > 0 ? sum : nil
    }

    /// Counts again what each user has under way, when the protocol of the origin has changed.
    mutating func countUsers(of lane: Lane) {
        lanes[lane].activeOfUser = [:]
        guard lanes[lane].speech == .http2 else { return }
        for flow in lanes[lane].busy { count(flows[flow].active, of: flows[flow].share.user, in: lane) }
    }

    /// The client that pays for the connection of an HTTP/2 origin has no stream left: one that has does so from now on.
    private mutating func passOn(_ lane: Lane) {
        charge(lanes[lane].holder, -1)
        lanes[lane].holder = payer(of: lane)
        charge(lanes[lane].holder, 1)
    }

    /// The party of a flow that uses the connection of an origin.
    func payer(of lane: Lane) -> Int {
        lanes[lane].busy.first.map { flows[$0].party } ?? -1
    }

    private mutating func charge(_ party: Int, _ count: Int) {
        guard parties.indices.contains(party), count != 0 else { return }
        parties[party].connections += count
        users[parties[party].user].connections += count
        if count < 0 { hasRoom = true }
    }

    mutating func chargeAll(of lane: Lane, _ sign: Int) {
        if lanes[lane].speech == .http2 {
            charge(lanes[lane].holder, sign * cost(of: lane))
        } else {
            for flow in lanes[lane].busy { charge(flows[flow].party, sign * flows[flow].active) }
        }
    }

    /// Changes the line of a flow, and counts what waits.
    @discardableResult mutating func edit<Result>(
        _ flow: Int, _ rank: Int, by change: Int, _ body: (inout WaitingLine<Element>) -> Result
    ) -> Result {
        let result = body(&flows[flow].lines[rank])
        waiting += change
        flows[flow].waiting += change
        let lane = flows[flow].lane
        lanes[lane].waiting += change
        loads[lanes[lane].owner].waiting += change
        return result
    }

    /// Has a flow stand in the rings of its lane if it may send what waits in it.
    mutating func enlist(_ flow: Int, isFresh: Bool = false) {
        if flows[flow].isParked { standByRank(flow) }
        guard flows[flow].waiting > 0, !waitsForConnection(flow), !isAtLimit(flow) else { return }
        for rank in 0..<3 where flows[flow].ringed & (1 << rank) == 0 && !flows[flow].lines[rank].isEmpty {
            flows[flow].ringed |= 1 << rank
            lanes[flows[flow].lane].ring.append(flow, rank: rank, key: flows[flow].share.user, isFresh: isFresh)
        }
    }

    mutating func list(_ lane: Lane) {
        guard !lanes[lane].isListed, !lanes[lane].ring.isEmpty, !isFull(lane) else { return }
        lanes[lane].isListed = true
        _ = ready.append(lane)
    }

    // MARK: Flows

    mutating func flow(of share: TransferShare, in lane: Lane) -> Int {
        let last = lanes[lane].lastFlow
        if last >= 0, flows[last].share == share { return last }
        let flow = lanes[lane].flows[share] ?? addFlow(of: share, in: lane)
        lanes[lane].lastFlow = flow
        return flow
    }

    private mutating func addFlow(of share: TransferShare, in lane: Lane) -> Int {
        let party = partyOfShare[share] ?? addParty(share)
        parties[party].flows += 1
        let state = Flow(share: share, lane: lane, party: party)
        let flow = freeFlows.popLast() ?? flows.count
        if flow == flows.count { flows.append(state) } else { flows[flow] = state }
        lanes[lane].flows[share] = flow
        return flow
    }

    private mutating func addParty(_ share: TransferShare) -> Int {
        let user = userOfNumber[share.user] ?? freeUsers.popLast() ?? users.count
        if user == users.count { users.append(User()) }
        userOfNumber[share.user] = user
        users[user].parties += 1
        let state = Party(share: share, user: user)
        let party = freeParties.popLast() ?? parties.count
        if party == parties.count { parties.append(state) } else { parties[party] = state }
        partyOfShare[share] = party
        return party
    }

    /// Flows of an origin that are kept though nothing waits in them.
    private static var keptFlows: Int { 16 }

    mutating func dropIfIdle(_ flow: Int) {
        let state = flows[flow]
        guard state.waiting == 0, state.active == 0, state.heldUp == 0, state.ringed == 0,
            lanes[state.lane].flows.count > AdmissionQueue.keptFlows
        else { return }
        lanes[state.lane].flows[state.share] = nil
        if lanes[state.lane].lastFlow == flow { lanes[state.lane].lastFlow = -1 }
        release(flow)
    }

    /// Entries of flows in which nothing waits any more that a ring keeps, beside as many as there are others.
    private static var keptEntries: Int { 64 }

    /// Takes entries behind which nothing waits any more out of the rings, if they are many: while an origin is busy nothing else does.
    mutating func sweepRings(of lane: Lane) {
        if lanes[lane].ring.count > 2 * lanes[lane].waiting + AdmissionQueue.keptEntries { sweepRing(of: lane) }
        if parked.count > 2 * waiting + AdmissionQueue.keptEntries { sweepParked() }
    }

    private mutating func sweepRing(of lane: Lane) {
        var (ring, idle) = (lanes[lane].ring, [Int]())
        lanes[lane].ring = PriorityRing()
        ring.removeAll { rank, flow in
            guard flows[flow].lines[rank].isEmpty else { return false }
            flows[flow].ringed &= ~(1 << rank)
            if flows[flow].ringed == 0 { idle.append(flow) }
            return true
        }
        lanes[lane].ring = ring
        for flow in idle { dropIfIdle(flow) }
    }

    private mutating func sweepParked() {
        var (ring, idle) = (parked, [Int]())
        parked = PriorityRing()
        ring.removeAll { rank, flow in
            let isWanted = flows[flow].isParked && !flows[flow].lines[rank].isEmpty
            guard flows[flow].isDead || !isWanted else { return false }
            if leaveRing(flow, rank), flows[flow].isParked, flows[flow].parkedRanks == 0 { idle.append(flow) }
            return true
        }
        parked = ring
        for flow in idle {
            unpark(flow)
            dropIfIdle(flow)
        }
    }

    /// Gives a flow's number back, and the account of its client with its last flow.
    mutating func release(_ flow: Int) {
        let party = flows[flow].party
        parties[party].flows -= 1
        if parties[party].flows == 0 {
            let (share, user) = (parties[party].share, parties[party].user)
            partyOfShare[share] = nil
            freeParties.append(party)
            users[user].parties -= 1
            if users[user].parties == 0 {
                userOfNumber[share.user] = nil
                users[user] = User()
                freeUsers.append(user)
            }
        }
        if flows[flow].isParked { unpark(flow) }
        // Its number may still stand in the ring of the parked.
        if flows[flow].parkedRanks == 0 { freeFlows.append(flow) } else { flows[flow].isDead = true }
    }
}
