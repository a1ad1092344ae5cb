/// Decides which transfer may start, and when. A value: events in, actions out.
///
/// There are limits per origin, per client and in total. The order is decided by priority, then round-robin: among
/// users, among the clients of a user, and in order of arrival among the transfers of a client. libcurl could queue
/// by itself, but collapses under thousands of waiting transfers and is not fair to any of them.
struct AdmissionQueue<Element> {
    struct Limits {
        /// Connections in use in all.
        var connections = 256
        /// Transfers on the one connection of an origin that speaks HTTP/2; RFC 9113, section 6.5.2, advises servers
        /// to allow 100.
        var streamsPerConnection = 100
        /// Transfers that wait, in all.
        var waiting = 100_000
        /// Maximum number of paused transfers that count in none of the limits above; any more count as if they were
        /// not paused.
        var paused = 1_024
        /// Whether a client gets at most as many connections as it leaves free, so that there are some for the next
        /// one.
        var reservesConnections = true
    }

    /// What is known about an origin's protocol.
    enum ProtocolState: Equatable {
        /// The origin may use HTTP/2, and nothing runs: one transfer starts first, alone.
        case cold
        /// The first transfer runs, and the others wait for the negotiated protocol.
        case probing
        /// The first took too long: treated as HTTP/1.1 until the protocol is known.
        case undecided
        case http1
        case http2
    }

    /// An element to start.
    struct Admission {
        let element: Element
        /// Whether it is the first one to a cold origin: then ``probeExpired(_:)`` must be called after a second.
        let isFirst: Bool
    }

    /// The limit that a waiting transfer waits for.
    enum Obstacle: String {
        /// A connection to its host, of those that all clients share.
        case host
        /// A connection to its host, of those that its own client may use, or one of its client's part of all
        /// connections or of the streams of an HTTP/2 connection.
        case client
        /// A connection, of all that there may be.
        case total
    }

    typealias OriginID = Int

    typealias Slot = AdmissionSlot

    struct OriginQueue {
        var protocolState: ProtocolState
        /// Whether the origin may speak HTTP/2.
        let mayMultiplex: Bool
        /// The most connections that it gets, and that one client gets of them.
        let connections: Int
        let connectionsPerClient: Int
        /// The owner in whose load it counts.
        let owner: Int
        /// Running elements, without those that are paused.
        var active = 0
        var paused = 0
        var waiting = 0
        /// The number of its parked flows.
        var parked = 0
        /// Its flows with running elements.
        var busy: [Int] = []
        /// Running elements per user.
        var activeOfUser: [UInt32: Int] = [:]
        /// The flow of each client, and the one that was used last.
        var flows: [TransferShare: Int] = [:]
        var lastFlow = -1
        /// Flows with elements that may be admitted.
        var ring = PriorityRing<UInt32, Int>()
        /// Whether it is in the list of origins that may admit.
        var isReady = false
        /// The account that is charged for the one connection of an HTTP/2 origin: of a client that uses it.
        var chargedAccount = -1
    }

    /// The elements of one client for one origin.
    struct Flow {
        let share: TransferShare
        let origin: OriginID
        /// Its account.
        let account: Int
        var queues = [FIFOQueue<Element>(), FIFOQueue<Element>(), FIFOQueue<Element>()]
        var waiting = 0
        var active = 0
        var paused = 0
        /// Its index among the busy flows of its origin; -1 if it has no running element.
        var busyIndex = -1
        /// Turns that it must skip, because its last transfers took as many.
        var turnsToSkip = 0
        /// The most connections that it gets.
        var connections: Int
        /// The priorities in whose rings it is, one bit each.
        var ringRanks: UInt8 = 0
        /// Whether it waits for a connection of the total or of its share of it.
        var isParked = false
        /// The priorities in whose parked rings it is, one bit each.
        var parkedRanks: UInt8 = 0
        /// Whether it was released while its number is still in a parked ring.
        var isReleased = false
    }

    /// The connections of a client; those of its user are counted separately.
    struct Account {
        let share: TransferShare
        let user: Int
        var connections = 0
        var flows = 0
    }

    /// The load of the origins of one owner.
    struct Load {
        /// Running elements, without those that are paused.
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
    /// Origins that may admit, in order.
    var ready = FIFOQueue<OriginID>()
    /// Flows that wait for the total or for their share of it.
    var parked = PriorityRing<UInt32, Int>()
    /// Whether connections have become free since the parked flows were checked.
    var hasFreedConnections = false
    var connections = 0
    /// The total number of waiting transfers.
    var waiting = 0
    /// The load of each owner.
    var loads: [Load] = []
    var paused = 0

    init(limits: Limits) { self.limits = limits }

    /// Maximum number of turns to skip, whatever the transfers have moved.
    static var maximumTurnsToSkip: Int { 16 }

    // MARK: Events

    /// Adds an origin, with the maximum number of its connections while it speaks HTTP/1.1, and of those of one
    /// client. If it cannot speak HTTP/2, there is no probe.
    /// - Parameter owner: the owner in whose load it counts: a small number, since there is an entry for each up to
    ///   the greatest.
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

    /// Removes an origin. Returns false, and keeps it, if something waits or runs.
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

    /// Adds an element; returns its slot, or `nil` if the queue is full.
    /// - Parameter connections: the most connections of the client to the origin, up to half of those of all clients; 0
    ///   for the origin's default. While elements of the client wait or run, the largest of theirs holds: the smaller
    ///   ones would wait for it otherwise.
    mutating func enqueue(
        _ element: Element, in origin: OriginID, share: TransferShare = TransferShare(),
        priority: TransferPriority = .normal, connections: Int = 0
    ) -> Slot? {
        guard waiting < limits.waiting else { return nil }
        let flow = flow(of: share, in: origin)
        setConnections(connections, of: flow)
        let rank = priority.rank
        let token = editQueue(flow, rank, by: 1) { $0.append(element) }
        addToRing(flow, isFresh: flows[flow].active == 0 && flows[flow].waiting == 1)
        markReady(origin)
        return Slot(flow: flow, rank: rank, token: token)
    }

    /// Removes an element that waits.
    mutating func withdraw(_ slot: Slot) {
        guard remove(slot) != nil else { return }
        let origin = flows[slot.flow].origin
        dropIfIdle(slot.flow)
        sweepRings(of: origin)
    }

    /// Changes the priority of an element that waits. Returns its slot, which is unchanged if it does not wait. It
    /// does not count as a new element.
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

    /// Pauses an element that was admitted and makes room for others: a client that does not read costs only itself.
    /// Returns false if too many are paused.
    mutating func pause(_ slot: Slot) -> Bool {
        guard paused < limits.paused else { return false }
        paused += 1
        flows[slot.flow].paused += 1
        origins[flows[slot.flow].origin].paused += 1
        addActive(-1, to: slot.flow)
        return true
    }

    /// Resumes a paused element at once, even if limits are exceeded for a while.
    mutating func resume(_ slot: Slot) {
        paused -= 1
        flows[slot.flow].paused -= 1
        origins[flows[slot.flow].origin].paused -= 1
        addActive(1, to: slot.flow)
    }

    /// An element that was admitted, and is not paused, has ended.
    /// - Parameter turns: how many turns of small transfers it has taken: one for each 64 KiB.
    mutating func finish(_ slot: Slot, turns: Int = 0) {
        let origin = flows[slot.flow].origin
        flows[slot.flow].turnsToSkip = min(
            AdmissionQueue.maximumTurnsToSkip, flows[slot.flow].turnsToSkip &+ max(0, turns))
        addActive(-1, to: slot.flow)
        if origins[origin].active == 0, origins[origin].paused == 0,
            origins[origin].protocolState == .probing || origins[origin].protocolState == .undecided
        {
            origins[origin].protocolState = .cold
            markReady(origin)
        }
        dropIfIdle(slot.flow)
    }

    /// A connection to the origin has negotiated this protocol.
    mutating func didNegotiate(isHTTP2: Bool, in origin: OriginID) {
        guard origins[origin].mayMultiplex else { return }
        // Another connection with the same protocol changes nothing.
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

    /// The probe of a cold origin has taken too long.
    mutating func probeExpired(_ origin: OriginID) {
        guard origins[origin].protocolState == .probing else { return }
        origins[origin].protocolState = .undecided
        markReady(origin)
    }

    /// No connection to the origin is left: the next one may negotiate another protocol.
    mutating func resetProtocol(_ origin: OriginID) {
        guard origins[origin].mayMultiplex, origins[origin].active == 0, origins[origin].paused == 0 else { return }
        origins[origin].protocolState = .cold
        markReady(origin)
    }

    // MARK: Queries

    /// The load of an owner.
    func load(of owner: Int) -> Load { loads.indices.contains(owner) ? loads[owner] : Load() }
    func active(in origin: OriginID) -> Int { origins[origin].active }
    func waiting(in origin: OriginID) -> Int { origins[origin].waiting }
    func protocolState(of origin: OriginID) -> ProtocolState { origins[origin].protocolState }

    /// The maximum number of elements of the same client and priority that wait before an element.
    func position(_ slot: Slot) -> Int { flows[slot.flow].queues[slot.rank].distance(to: slot.token) }

    /// The limit that an element waits for.
    func obstacle(_ slot: Slot) -> Obstacle {
        let flow = flows[slot.flow]
        if waitsForConnection(slot.flow) { return connections >= limits.connections ? .total : .client }
        if !mayTakeStream(slot.flow) { return .client }
        return isAtLimit(slot.flow) && flow.active < origins[flow.origin].connections ? .client : .host
    }
}
