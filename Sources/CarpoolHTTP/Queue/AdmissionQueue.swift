/// Decides which transfer may go to the network, and when. A value: events in, actions out.
///
/// So many go to an origin, so many of one client, and so many in all. Who goes next is decided by priority, then by turns: of users, of the
/// clients of a user, and of the transfers of a client in the order in which they came. libcurl could queue by itself, but collapses under
/// thousands of waiting transfers and gives none of them a fair turn.
struct AdmissionQueue<Element> {
    struct Limits {
        /// Connections in use in all.
        var connections = 256
        /// Transfers on the one connection of an origin that speaks HTTP/2; RFC 9113, section 6.5.2, advises servers to allow 100.
        var streamsPerConnection = 100
        /// Transfers that wait, in all.
        var waiting = 100_000
        /// Transfers that are held up and count in none of the limits above, in all; any more count as if they were not held up.
        var paused = 1_024
        /// Whether a client gets at most as many connections as it leaves free, so that there are some for the next one.
        var leavesRoom = true
    }

    /// What the origin is known to speak.
    enum ProtocolState: Equatable {
        /// It may speak HTTP/2, and nothing is on its way: one transfer goes first, alone.
        case cold
        /// The first is on its way, and the others wait for what it finds out.
        case probing
        /// The first took too long: go on as with HTTP/1.1 until it is known.
        case undecided
        case http1
        case http2
    }

    /// What to do: give this one to the network.
    struct Admission {
        let element: Element
        /// Whether it goes ahead of others to a cold origin: then ``probeExpired(_:)`` is to be called after a second.
        let isFirst: Bool
    }

    /// What a transfer that waits has to wait for.
    enum Obstacle: String {
        /// A connection to its host, of those that all clients share.
        case host
        /// A connection to its host, of those that its own client may use, or one of its client's part of all connections or of the streams of
        /// an HTTP/2 connection.
        case client
        /// A connection, of all that there may be.
        case total
    }

    typealias OriginID = Int

    typealias Slot = AdmissionSlot

    struct OriginQueue {
        var protocolState: ProtocolState
        /// Whether the origin may speak HTTP/2 at all.
        let mayMultiplex: Bool
        /// The most connections that it gets, and that one client gets of them.
        let connections: Int
        let connectionsPerClient: Int
        /// In whose sums it counts.
        let owner: Int
        /// Under way, without those that are held up.
        var active = 0
        var paused = 0
        var waiting = 0
        /// How many of its flows are parked.
        var parked = 0
        /// Its flows that have something under way.
        var busy: [Int] = []
        /// What is under way for each user.
        var activeOfUser: [UInt32: Int] = [:]
        /// What each client wants of this origin, and the one that was asked for last.
        var flows: [TransferShare: Int] = [:]
        var lastFlow = -1
        /// Flows that have something to send and may send it.
        var ring = PriorityRing<UInt32, Int>()
        /// Whether it stands in the list of those that may admit.
        var isReady = false
        /// The party in whose account the one connection of an HTTP/2 origin is: one that uses it.
        var chargedAccount = -1
    }

    /// What one client wants of one origin.
    struct Flow {
        let share: TransferShare
        let origin: OriginID
        /// Its account.
        let account: Int
        var queues = [FIFOQueue<Element>(), FIFOQueue<Element>(), FIFOQueue<Element>()]
        var waiting = 0
        var active = 0
        var paused = 0
        /// Where it stands among the flows of its lane that have something under way; -1 if it has nothing.
        var busyIndex = -1
        /// Turns that it has to let pass, because its last transfers took as much as so many others.
        var debt = 0
        /// In which rings of its lane it stands, a bit for each.
        var ringRanks: UInt8 = 0
        /// Whether it waits for a connection, of the total or of its part of it.
        var isParked = false
        /// In which rings of those that do it stands, a bit for each priority.
        var parkedRanks: UInt8 = 0
        /// Whether its lane has gone.
        var isReleased = false
    }

    /// The connections of a client; those of its user are counted besides.
    struct Account {
        let share: TransferShare
        let user: Int
        var connections = 0
        var flows = 0
    }

    /// What there is of the lanes of one owner.
    struct Load {
        /// Under way, without those that are held up.
        var active = 0
        var waiting = 0
    }

    struct User {
        var connections = 0
        var accounts = 0
    }

    let limits: Limits
    var origins: [OriginQueue] = []
    var freeOrigins: [OriginID] = []
    var flows: [Flow] = []
    var freeFlows: [Int] = []
    var accounts: [Account] = []
    var freeAccounts: [Int] = []
    var accountOfShare: [TransferShare: Int] = [:]
    var users: [User] = []
    var freeUsers: [Int] = []
    var userOfNumber: [UInt32: Int] = [:]
    /// Lanes that may admit, in the order of their waiting.
    var ready = FIFOQueue<OriginID>()
    /// Flows that wait for the total or for their part of it.
    var parked = PriorityRing<UInt32, Int>()
    /// Whether connections have become free since the parked were looked at.
    var hasRoom = false
    var connections = 0
    /// How many transfers wait in all.
    var waiting = 0
    /// The sums of the lanes of each owner.
    var loads: [Load] = []
    var paused = 0

    init(limits: Limits) { self.limits = limits }

    /// The most turns that a transfer costs, whatever it has moved.
    static var greatestDebt: Int { 16 }

    // MARK: Events

    /// A new origin, with the most connections that it gets as long as it speaks HTTP/1.1, and those that one client gets. If it cannot
    /// speak HTTP/2, there is nothing to find out.
    /// - Parameter owner: in whose sums it counts: a small number, since there is a place for each up to the greatest.
    mutating func addOrigin(mayMultiplex: Bool, connections: Int, perClient: Int = .max, owner: Int = 0) -> OriginID {
        while loads.count <= owner { loads.append(Load()) }
        let state = OriginQueue(
            protocolState: mayMultiplex ? .cold : .http1, mayMultiplex: mayMultiplex, connections: connections,
            connectionsPerClient: perClient, owner: owner)
        if let origin = freeOrigins.popLast() {
            origins[origin] = state
            return origin
        }
        origins.append(state)
        return origins.count - 1
    }

    /// The origin is of no more interest. Gives false, and keeps it, if something waits or is under way.
    mutating func removeOrigin(_ origin: OriginID) -> Bool {
        let state = origins[origin]
        guard state.active == 0, state.paused == 0, state.waiting == 0, !state.isReady else { return false }
        for flow in state.flows.values { release(flow) }
        origins[origin].flows = [:]
        origins[origin].lastFlow = -1
        origins[origin].ring = PriorityRing()
        freeOrigins.append(origin)
        return true
    }

    /// A transfer wants to go. Gives its place, or `nil` if the queue is full.
    mutating func enqueue(
        _ element: Element, in origin: OriginID, share: TransferShare = TransferShare(),
        priority: TransferPriority = .normal
    ) -> Slot? {
        guard waiting < limits.waiting else { return nil }
        let flow = flow(of: share, in: origin)
        let rank = priority.rank
        let token = editQueue(flow, rank, by: 1) { $0.append(element) }
        addToRing(flow, isFresh: flows[flow].active == 0 && flows[flow].waiting == 1)
        markReady(origin)
        return Slot(flow: flow, rank: rank, token: token)
    }

    /// A transfer that waits has given up.
    mutating func withdraw(_ slot: Slot) {
        guard remove(slot) != nil else { return }
        let origin = flows[slot.flow].origin
        dropIfIdle(slot.flow)
        sweepRings(of: origin)
    }

    /// A transfer that waits has another priority. Returns its place: the same if it does not wait. It counts as one that waits already.
    mutating func move(_ slot: Slot, to priority: TransferPriority) -> Slot {
        let (flow, rank) = (slot.flow, priority.rank)
        guard rank != slot.rank, let element = remove(slot) else { return slot }
        let token = editQueue(flow, rank, by: 1) { $0.append(element) }
        addToRing(flow)
        markReady(flows[flow].origin)
        return Slot(flow: flow, rank: rank, token: token)
    }

    private mutating func remove(_ slot: Slot) -> Element? {
        guard let element = flows[slot.flow].queues[slot.rank].remove(slot.token) else { return nil }
        editQueue(slot.flow, slot.rank, by: -1) { _ in }
        return element
    }

    /// One that was admitted is held up by its own side, and makes room for others: a client that does not read costs only itself. Gives false if
    /// there are too many of those.
    mutating func pause(_ slot: Slot) -> Bool {
        guard paused < limits.paused else { return false }
        paused += 1
        flows[slot.flow].paused += 1
        origins[flows[slot.flow].origin].paused += 1
        addActive(-1, to: slot.flow)
        return true
    }

    /// One that was held up goes on, at once, even if there are more than there should be for a while.
    mutating func resume(_ slot: Slot) {
        paused -= 1
        flows[slot.flow].paused -= 1
        origins[flows[slot.flow].origin].paused -= 1
        addActive(1, to: slot.flow)
    }

    /// One that was admitted has ended, and was not held up.
    /// - Parameter turns: how many turns of others it has taken: one for each 64 KiB.
    mutating func finish(_ slot: Slot, turns: Int = 0) {
        let origin = flows[slot.flow].origin
        flows[slot.flow].debt = min(AdmissionQueue.greatestDebt, flows[slot.flow].debt &+ max(0, turns))
        addActive(-1, to: slot.flow)
        if origins[origin].active == 0, origins[origin].paused == 0,
            origins[origin].protocolState == .probing || origins[origin].protocolState == .undecided
        {
            origins[origin].protocolState = .cold
            markReady(origin)
        }
        dropIfIdle(slot.flow)
    }

    /// A connection to the origin was made, and this is what it speaks.
    mutating func didNegotiate(isHTTP2: Bool, in origin: OriginID) {
        guard origins[origin].mayMultiplex else { return }
        // One more connection that speaks what the others do changes nothing.
        guard origins[origin].protocolState != (isHTTP2 ? .http2 : .http1) else { return markReady(origin) }
        chargeAll(of: origin, -1)
        let before = cost(of: origin)
        origins[origin].protocolState = isHTTP2 ? .http2 : .http1
        origins[origin].chargedAccount = accountToCharge(of: origin)
        countUsers(of: origin)
        connections += cost(of: origin) - before
        chargeAll(of: origin, 1)
        for flow in origins[origin].flows.values { addToRing(flow) }
        markReady(origin)
    }

    /// The first transfer to a cold origin has been on its way for too long.
    mutating func probeExpired(_ origin: OriginID) {
        guard origins[origin].protocolState == .probing else { return }
        origins[origin].protocolState = .undecided
        markReady(origin)
    }

    /// No connection to the origin is left: the next one may speak something else.
    mutating func resetProtocol(_ origin: OriginID) {
        guard origins[origin].mayMultiplex, origins[origin].active == 0, origins[origin].paused == 0 else { return }
        origins[origin].protocolState = .cold
        markReady(origin)
    }

    // MARK: Answers

    /// What there is of the lanes of an owner.
    func load(of owner: Int) -> Load { loads.indices.contains(owner) ? loads[owner] : Load() }
    func active(in origin: OriginID) -> Int { origins[origin].active }
    func waiting(in origin: OriginID) -> Int { origins[origin].waiting }
    func protocolState(of origin: OriginID) -> ProtocolState { origins[origin].protocolState }

    /// How many of its client's transfers of the same priority wait before one, at most.
    func position(_ slot: Slot) -> Int { flows[slot.flow].queues[slot.rank].distance(to: slot.token) }

    /// What one that waits has to wait for.
    func obstacle(_ slot: Slot) -> Obstacle {
        let flow = flows[slot.flow]
        if waitsForConnection(slot.flow) { return connections >= limits.connections ? .total : .client }
        if !mayTakeStream(slot.flow) { return .client }
        return isAtLimit(slot.flow) && flow.active < origins[flow.origin].connections ? .client : .host
    }
}
