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
        var heldUp = 1_024
        /// Whether a client gets at most as many connections as it leaves free, so that there are some for the next one.
        var leavesRoom = true
    }

    /// What the origin is known to speak.
    enum Speech: Equatable {
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
        /// Whether it goes ahead of others to a cold origin: then ``gateExpired(_:)`` is to be called after a second.
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

    typealias Lane = Int

    /// The place of a transfer, while it waits and while it is under way.
    struct Place {
        let flow: Int
        let rank: Int
        let ticket: Int
    }

    struct LaneState {
        var speech: Speech
        /// Whether the origin may speak HTTP/2 at all.
        let mayMultiplex: Bool
        /// The most connections that it gets, and that one client gets of them.
        let connections: Int
        let connectionsPerClient: Int
        /// In whose sums it counts.
        let owner: Int
        /// Under way, without those that are held up.
        var active = 0
        var heldUp = 0
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
        var isListed = false
        /// The party in whose account the one connection of an HTTP/2 origin is: one that uses it.
        var holder = -1
    }

    /// What one client wants of one origin.
    struct Flow {
        let share: TransferShare
        let lane: Lane
        /// Its account.
        let party: Int
        var lines = [WaitingLine<Element>(), WaitingLine<Element>(), WaitingLine<Element>()]
        var waiting = 0
        var active = 0
        var heldUp = 0
        /// Where it stands among the flows of its lane that have something under way; -1 if it has nothing.
        var busyPlace = -1
        /// Turns that it has to let pass, because its last transfers took as much as so many others.
        var debt = 0
        /// In which rings of its lane it stands, a bit for each.
        var ringed: UInt8 = 0
        /// Whether it waits for a connection, of the total or of its part of it.
        var isParked = false
        /// In which rings of those that do it stands, a bit for each priority.
        var parkedRanks: UInt8 = 0
        /// Whether its lane has gone.
        var isDead = false
    }

    /// The connections of a client; those of its user are counted besides.
    struct Party {
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
        var parties = 0
    }

    let limits: Limits
    var lanes: [LaneState] = []
    var freeLanes: [Lane] = []
    var flows: [Flow] = []
    var freeFlows: [Int] = []
    var parties: [Party] = []
    var freeParties: [Int] = []
    var partyOfShare: [TransferShare: Int] = [:]
    var users: [User] = []
    var freeUsers: [Int] = []
    var userOfNumber: [UInt32: Int] = [:]
    /// Lanes that may admit, in the order of their waiting.
    var ready = WaitingLine<Lane>()
    /// Flows that wait for the total or for their part of it.
    var parked = PriorityRing<UInt32, Int>()
    /// Whether connections have become free since the parked were looked at.
    var hasRoom = false
    var connections = 0
    /// How many transfers wait in all.
    var waiting = 0
    /// The sums of the lanes of each owner.
    var loads: [Load] = []
    var heldUp = 0

    init(limits: Limits) { self.limits = limits }

    /// The most turns that a transfer costs, whatever it has moved.
    static var greatestDebt: Int { 16 }

    // MARK: Events

    /// A new origin, with the most connections that it gets as long as it speaks HTTP/1.1, and those that one client gets. If it cannot
    /// speak HTTP/2, there is nothing to find out.
    /// - Parameter owner: in whose sums it counts: a small number, since there is a place for each up to the greatest.
    mutating func addLane(mayMultiplex: Bool, connections: Int, perClient: Int = .max, owner: Int = 0) -> Lane {
        while loads.count <= owner { loads.append(Load()) }
        let state = LaneState(
            speech: mayMultiplex ? .cold : .http1, mayMultiplex: mayMultiplex, connections: connections,
            connectionsPerClient: perClient, owner: owner)
        if let lane = freeLanes.popLast() {
            lanes[lane] = state
            return lane
        }
        lanes.append(state)
        return lanes.count - 1
    }

    /// The origin is of no more interest. Gives false, and keeps it, if something waits or is under way.
    mutating func removeLane(_ lane: Lane) -> Bool {
        let state = lanes[lane]
        guard state.active == 0, state.heldUp == 0, state.waiting == 0, !state.isListed else { return false }
        for flow in state.flows.values { release(flow) }
        lanes[lane].flows = [:]
        lanes[lane].lastFlow = -1
        lanes[lane].ring = PriorityRing()
        freeLanes.append(lane)
        return true
    }

    /// A transfer wants to go. Gives its place, or `nil` if the queue is full.
    mutating func enqueue(
        _ element: Element, in lane: Lane, share: TransferShare = TransferShare(), priority: TransferPriority = .normal
    ) -> Place? {
        guard waiting < limits.waiting else { return nil }
        let flow = flow(of: share, in: lane)
        let rank = priority.rank
        let ticket = edit(flow, rank, by: 1) { $0.append(element) }
        enlist(flow, isFresh: flows[flow].active == 0 && flows[flow].waiting == 1)
        list(lane)
        return Place(flow: flow, rank: rank, ticket: ticket)
    }

    /// A transfer that waits has given up.
    mutating func withdraw(_ place: Place) {
        guard remove(place) != nil else { return }
        let lane = flows[place.flow].lane
        dropIfIdle(place.flow)
        sweepRings(of: lane)
    }

    /// A transfer that waits has another priority. Returns its place: the same if it does not wait. It counts as one that waits already.
    mutating func move(_ place: Place, to priority: TransferPriority) -> Place {
        let (flow, rank) = (place.flow, priority.rank)
        guard rank != place.rank, let element = remove(place) else { return place }
        let ticket = edit(flow, rank, by: 1) { $0.append(element) }
        enlist(flow)
        list(flows[flow].lane)
        return Place(flow: flow, rank: rank, ticket: ticket)
    }

    private mutating func remove(_ place: Place) -> Element? {
        guard let element = flows[place.flow].lines[place.rank].remove(place.ticket) else { return nil }
        edit(place.flow, place.rank, by: -1) { _ in }
        return element
    }

    /// One that was admitted is held up by its own side, and makes room for others: a client that does not read costs only itself. Gives false if
    /// there are too many of those.
    mutating func holdUp(_ place: Place) -> Bool {
        guard heldUp < limits.heldUp else { return false }
        heldUp += 1
        flows[place.flow].heldUp += 1
        lanes[flows[place.flow].lane].heldUp += 1
        addActive(-1, to: place.flow)
        return true
    }

    /// One that was held up goes on, at once, even if there are more than there should be for a while.
    mutating func goOn(_ place: Place) {
        heldUp -= 1
        flows[place.flow].heldUp -= 1
        lanes[flows[place.flow].lane].heldUp -= 1
        addActive(1, to: place.flow)
    }

    /// One that was admitted has ended, and was not held up.
    /// - Parameter turns: how many turns of others it has taken: one for each 64 KiB.
    mutating func finish(_ place: Place, turns: Int = 0) {
        let lane = flows[place.flow].lane
        flows[place.flow].debt = min(AdmissionQueue.greatestDebt, flows[place.flow].debt &+ max(0, turns))
        addActive(-1, to: place.flow)
        if lanes[lane].active == 0, lanes[lane].heldUp == 0,
            lanes[lane].speech == .probing || lanes[lane].speech == .undecided
        {
            lanes[lane].speech = .cold
            list(lane)
        }
        dropIfIdle(place.flow)
    }

    /// A connection to the origin was made, and this is what it speaks.
    mutating func learn(isHTTP2: Bool, in lane: Lane) {
        guard lanes[lane].mayMultiplex else { return }
        // One more connection that speaks what the others do changes nothing.
        guard lanes[lane].speech != (isHTTP2 ? .http2 : .http1) else { return list(lane) }
        chargeAll(of: lane, -1)
        let before = cost(of: lane)
        lanes[lane].speech = isHTTP2 ? .http2 : .http1
        lanes[lane].holder = payer(of: lane)
        countUsers(of: lane)
        connections += cost(of: lane) - before
        chargeAll(of: lane, 1)
        for flow in lanes[lane].flows.values { enlist(flow) }
        list(lane)
    }

    /// The first transfer to a cold origin has been on its way for too long.
    mutating func gateExpired(_ lane: Lane) {
        guard lanes[lane].speech == .probing else { return }
        lanes[lane].speech = .undecided
        list(lane)
    }

    /// No connection to the origin is left: the next one may speak something else.
    mutating func forget(_ lane: Lane) {
        guard lanes[lane].mayMultiplex, lanes[lane].active == 0, lanes[lane].heldUp == 0 else { return }
        lanes[lane].speech = .cold
        list(lane)
    }

    // MARK: Answers

    /// What there is of the lanes of an owner.
    func load(of owner: Int) -> Load { loads.indices.contains(owner) ? loads[owner] : Load() }
    func active(in lane: Lane) -> Int { lanes[lane].active }
    func waiting(in lane: Lane) -> Int { lanes[lane].waiting }
    func speech(of lane: Lane) -> Speech { lanes[lane].speech }

    /// How many of its client's transfers of the same priority wait before one, at most.
    func position(_ place: Place) -> Int { flows[place.flow].lines[place.rank].distance(to: place.ticket) }

    /// What one that waits has to wait for.
    func obstacle(_ place: Place) -> Obstacle {
        let flow = flows[place.flow]
        if waitsForConnection(place.flow) { return connections >= limits.connections ? .total : .client }
        if !mayTakeStream(place.flow) { return .client }
        return isAtLimit(place.flow) && flow.active < lanes[flow.lane].connections ? .client : .host
    }
}
