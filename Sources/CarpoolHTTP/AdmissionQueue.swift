/// Decides which transfer may go to the network, and when: so many per origin, so many in all, in the order in which they came, and no
/// origin before another that has waited longer. A value: events in, actions out.
///
/// libcurl could queue by itself, but collapses under thousands of waiting transfers and gives none of them a fair turn.
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

    typealias Lane = Int

    private struct LaneState {
        var speech: Speech
        /// Whether the origin may speak HTTP/2 at all.
        let mayMultiplex: Bool
        /// The most connections that it gets.
        let connections: Int
        /// Under way, without those that are held up.
        var active = 0
        var heldUp = 0
        var line = WaitingLine<Element>()
        /// Whether it stands in one of the two lists below.
        var isListed = false
    }

    private let limits: Limits
    private var lanes: [LaneState] = []
    private var freeLanes: [Lane] = []
    /// Lanes that may admit, and those that could if the total allowed it, both in the order of their waiting.
    private var ready = WaitingLine<Lane>()
    private var starved = WaitingLine<Lane>()
    private var connections = 0
    private var occupied = 0
    private var heldUp = 0

    init(limits: Limits) { self.limits = limits }

    // MARK: Events

    /// A new origin, with the most connections that it gets as long as it speaks HTTP/1.1. If it cannot speak HTTP/2, there is nothing to find
    /// out.
    mutating func addLane(mayMultiplex: Bool, connections: Int) -> Lane {
        let state = LaneState(
            speech: mayMultiplex ? .cold : .http1, mayMultiplex: mayMultiplex, connections: connections)
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
        guard state.active == 0, state.heldUp == 0, state.line.isEmpty, !state.isListed else { return false }
        freeLanes.append(lane)
        return true
    }

    /// Somebody wants to go. Gives the ticket, or `nil` if the queue is full.
    mutating func enqueue(_ element: Element, in lane: Lane) -> WaitingLine<Element>.Ticket? {
        guard occupied < limits.waiting else { return nil }
        return change(lane) { $0.line.append(element) }
    }

    /// Somebody who waits has given up.
    mutating func withdraw(_ ticket: WaitingLine<Element>.Ticket, from lane: Lane) {
        change(lane) { $0.line.remove(ticket) }
    }

    /// One that was admitted is held up by its own side, and makes room for others: whoever does not read costs only itself. Gives false if
    /// there are too many of those.
    mutating func holdUp(in lane: Lane) -> Bool {
        guard heldUp < limits.heldUp else { return false }
        heldUp += 1
        change(lane) { state in
            state.active -= 1
            state.heldUp += 1
        }
        return true
    }

    /// One that was held up goes on, at once, even if there are more than there should be for a while.
    mutating func goOn(in lane: Lane) {
        heldUp -= 1
        change(lane) { state in
            state.active += 1
            state.heldUp -= 1
        }
    }

    /// One that was admitted has ended, and was not held up.
    mutating func finish(in lane: Lane) {
        change(lane) { state in
            state.active -= 1
            guard state.active == 0, state.heldUp == 0 else { return }
            if state.speech == .probing || state.speech == .undecided { state.speech = .cold }
        }
    }

    /// A connection to the origin was made, and this is what it speaks.
    mutating func learn(isHTTP2: Bool, in lane: Lane) {
        change(lane) { state in
            guard state.mayMultiplex else { return }
            state.speech = isHTTP2 ? .http2 : .http1
        }
    }

    /// The first transfer to a cold origin has been on its way for too long.
    mutating func gateExpired(_ lane: Lane) {
        change(lane) { if $0.speech == .probing { $0.speech = .undecided } }
    }

    /// No connection to the origin is left: the next one may speak something else.
    mutating func forget(_ lane: Lane) {
        change(lane) { if $0.mayMultiplex, $0.active == 0, $0.heldUp == 0 { $0.speech = .cold } }
    }

    // MARK: Actions and answers

    /// The next thing to do; to be called until it gives `nil`.
    mutating func next() -> Admission? {
        if connections < limits.connections, let lane = starved.popFirst(), let admission = admit(from: lane) {
            return admission
        }
        while let lane = ready.popFirst() {
            if let admission = admit(from: lane) { return admission }
        }
        return nil
    }

    func active(in lane: Lane) -> Int { lanes[lane].active }
    func waiting(in lane: Lane) -> Int { lanes[lane].line.count }
    func speech(of lane: Lane) -> Speech { lanes[lane].speech }

    // MARK: Rules

    private mutating func admit(from lane: Lane) -> Admission? {
        lanes[lane].isListed = false
        guard mayAdmit(lane) else { return nil }
        let speech = lanes[lane].speech
        let needsConnection = speech != .http2 || lanes[lane].active == 0
        if needsConnection, connections >= limits.connections {
            lanes[lane].isListed = true
            _ = starved.append(lane)
            return nil
        }
        let element = change(lane) { state in
            state.active += 1
            if speech == .cold { state.speech = .probing }
            return state.line.popFirst()
        }
        return element.map { Admission(element: $0, isFirst: speech == .cold) }
    }

    private func mayAdmit(_ lane: Lane) -> Bool {
        guard !lanes[lane].line.isEmpty else { return false }
        let capacity =
            switch lanes[lane].speech {
            case .cold: 1
            case .probing: 0
            case .undecided, .http1: lanes[lane].connections
            case .http2: limits.streamsPerConnection
            }
        return lanes[lane].active < capacity
    }

    private func cost(of lane: Lane) -> Int {
        lanes[lane].speech == .http2 ? min(lanes[lane].active, 1) : lanes[lane].active
    }

    /// Every change of a lane goes through here, so that the sums and the lists follow.
    @discardableResult private mutating func change<Result>(
        _ lane: Lane, _ body: (inout LaneState) -> Result
    ) -> Result {
        let (cost, extent) = (cost(of: lane), lanes[lane].line.extent)
        let result = body(&lanes[lane])
        connections += self.cost(of: lane) - cost
        occupied += lanes[lane].line.extent - extent
        if !lanes[lane].isListed, mayAdmit(lane) {
            lanes[lane].isListed = true
            _ = ready.append(lane)
        }
        return result
    }
}
