import Testing

@testable import CarpoolHTTP

struct AdmissionQueueTests {
    typealias Queue = AdmissionQueue<Int>

    func queue(total: Int = 4, streams: Int = 10, waiting: Int = 1000, heldUp: Int = 100) -> Queue {
        Queue(
            limits: .init(
                connections: total, streamsPerConnection: streams, waiting: waiting,
                heldUp: heldUp, leavesRoom: false))
    }

    func drain(_ queue: inout Queue) -> [Int] {
        var admitted: [Int] = []
        while let admission = queue.next() { admitted.append(admission.element) }
        return admitted
    }

    func holdUp(_ queue: inout Queue, _ lane: Int) -> Bool { queue.holdUp(in: lane) }

    @Test func anOriginWithoutTLSGetsItsConnectionsAtOnce() {
        var queue = queue()
        let lane = queue.addLane(mayMultiplex: false, connections: 2)
        for i in 0..<5 { _ = queue.enqueue(i, in: lane) }
        #expect(drain(&queue) == [0, 1])
        queue.finish(in: lane)
        #expect(drain(&queue) == [2])
        #expect(queue.active(in: lane) == 2)
        #expect(queue.waiting(in: lane) == 2)
    }

    @Test func theFirstToAColdOriginGoesAlone() {
        var queue = queue()
        let lane = queue.addLane(mayMultiplex: true, connections: 2)
        for i in 0..<5 { _ = queue.enqueue(i, in: lane) }
        let first = queue.next()
        #expect(first?.element == 0)
        #expect(first?.isFirst == true)
        #expect(drain(&queue).isEmpty)
    }

    @Test func whatItFindsOutDecidesForTheOthers() {
        for (isHTTP2, expected) in [(true, 10), (false, 2)] {
            var queue = queue()
            let lane = queue.addLane(mayMultiplex: true, connections: 2)
            for i in 0..<20 { _ = queue.enqueue(i, in: lane) }
            _ = drain(&queue)
            queue.learn(isHTTP2: isHTTP2, in: lane)
            #expect(drain(&queue).count == expected - 1)
            #expect(queue.active(in: lane) == expected)
        }
    }

    @Test func afterASecondTheOthersGoAsWithHTTP1() {
        var queue = queue()
        let lane = queue.addLane(mayMultiplex: true, connections: 2)
        for i in 0..<5 { _ = queue.enqueue(i, in: lane) }
        _ = drain(&queue)
        queue.gateExpired(lane)
        #expect(queue.speech(of: lane) == .undecided)
        #expect(drain(&queue) == [1])
        queue.finish(in: lane)
        queue.finish(in: lane)
        let next = queue.next()
        #expect(next?.isFirst == true)
    }

    @Test func theNextGoesFirstIfTheFirstFails() {
        var queue = queue()
        let lane = queue.addLane(mayMultiplex: true, connections: 2)
        for i in 0..<3 { _ = queue.enqueue(i, in: lane) }
        for i in 0..<3 {
            let first = queue.next()
            #expect(first?.element == i)
            #expect(first?.isFirst == true)
            #expect(drain(&queue).isEmpty)
            queue.finish(in: lane)
        }
    }

    @Test func manyStreamsCostOneConnectionOfTheTotal() {
        var queue = queue(total: 2)
        let multiplexed = queue.addLane(mayMultiplex: true, connections: 2)
        let plain = queue.addLane(mayMultiplex: false, connections: 2)
        for i in 0..<10 { _ = queue.enqueue(i, in: multiplexed) }
        _ = drain(&queue)
        queue.learn(isHTTP2: true, in: multiplexed)
        #expect(drain(&queue).count == 9)
        for i in 100..<105 { _ = queue.enqueue(i, in: plain) }
        #expect(drain(&queue) == [100])
        for _ in 0..<10 { queue.finish(in: multiplexed) }
        #expect(drain(&queue) == [101])
    }

    @Test func originsTakeTurnsWhenTheTotalIsUsedUp() {
        var queue = queue(total: 3)
        let lanes = (0..<4).map { _ in queue.addLane(mayMultiplex: false, connections: 3) }
        for lane in lanes { for i in 0..<10 { _ = queue.enqueue(lane * 100 + i, in: lane) } }
        var served = drain(&queue)
        #expect(served.count == 3)
        for step in 0..<37 {
            queue.finish(in: served[step] / 100)
            let next = drain(&queue)
            #expect(next.count == 1)
            served += next
        }
        // No origin is ever more than a few turns ahead of another.
        for end in stride(from: 12, through: 36, by: 4) {
            let counts = lanes.map { lane in served[..<end].count { $0 / 100 == lane } }
            #expect((counts.max() ?? 0) - (counts.min() ?? 0) <= 3)
        }
        for lane in lanes { #expect(served.filter { $0 / 100 == lane } == (0..<10).map { lane * 100 + $0 }) }
    }

    @Test func whoGivesUpIsNotAdmitted() {
        var queue = queue()
        let lane = queue.addLane(mayMultiplex: false, connections: 1)
        let tickets = (0..<4).map { queue.enqueue($0, in: lane) }
        #expect(drain(&queue) == [0])
        if let ticket = tickets[1] { queue.withdraw(ticket) }
        queue.finish(in: lane)
        #expect(drain(&queue) == [2])
    }

    @Test func isFullAtItsLimitAndRecovers() {
        var queue = queue(waiting: 3)
        let lane = queue.addLane(mayMultiplex: false, connections: 1)
        _ = queue.enqueue(0, in: lane)
        _ = drain(&queue)
        let tickets = (1...3).map { queue.enqueue($0, in: lane) }
        #expect(tickets.allSatisfy { $0 != nil })
        let refused = queue.enqueue(4, in: lane)
        #expect(refused == nil)
        if let ticket = tickets[2] { queue.withdraw(ticket) }
        let accepted = queue.enqueue(5, in: lane)
        #expect(accepted != nil)
        queue.finish(in: lane)
        #expect(drain(&queue) == [1])
        let acceptedAgain = queue.enqueue(6, in: lane)
        #expect(acceptedAgain != nil)
    }

    @Test func anEmptyLaneCanGoAndItsNumberComesBack() {
        var queue = queue()
        let lane = queue.addLane(mayMultiplex: false, connections: 2)
        _ = queue.enqueue(1, in: lane)
        var isGone = queue.removeLane(lane)
        #expect(!isGone)
        _ = drain(&queue)
        isGone = queue.removeLane(lane)
        #expect(!isGone)
        queue.finish(in: lane)
        isGone = queue.removeLane(lane)
        #expect(isGone)
        let again = queue.addLane(mayMultiplex: true, connections: 2)
        #expect(again == lane)
        #expect(queue.speech(of: lane) == .cold)
    }

    @Test func forgetsTheProtocolWithTheLastConnection() {
        var queue = queue()
        let lane = queue.addLane(mayMultiplex: true, connections: 2)
        _ = queue.enqueue(1, in: lane)
        _ = drain(&queue)
        queue.learn(isHTTP2: true, in: lane)
        queue.forget(lane)
        #expect(queue.speech(of: lane) == .http2)
        queue.finish(in: lane)
        queue.forget(lane)
        #expect(queue.speech(of: lane) == .cold)
    }

    /// Random events; after each the sums must agree with what a slow count finds.
    @Test(arguments: 0..<20) func keepsItsLimitsWhateverHappens(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = queue(total: 7, streams: 5, waiting: 50)
        let lanes = (0..<5).map { queue.addLane(mayMultiplex: $0 % 2 == 0, connections: 3) }
        var waiting: [Int: (lane: Int, ticket: Queue.Place)] = [:]
        var active: [Int: Int] = [:]
        for element in 0..<2_000 {
            let lane = lanes.randomElement(using: &random) ?? 0
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1:
                if let ticket = queue.enqueue(element, in: lane) { waiting[element] = (lane, ticket) }
            case 2:
                if let (element, place) = waiting.randomElement(using: &random) {
                    queue.withdraw(place.ticket)
                    waiting[element] = nil
                }
            case 3, 4:
                if let (element, lane) = active.randomElement(using: &random) {
                    queue.finish(in: lane)
                    active[element] = nil
                }
            default:
                if queue.speech(of: lane) == .probing { queue.learn(isHTTP2: lane == 0, in: lane) }
                if queue.active(in: lane) == 0 { queue.forget(lane) }
            }
            while let admission = queue.next() {
                let place = waiting.removeValue(forKey: admission.element)
                #expect(place != nil)
                active[admission.element] = place?.lane
            }
            let connections = lanes.reduce(0) { sum, lane in
                let count = active.values.count { $0 == lane }
                #expect(count == queue.active(in: lane))
                #expect(count <= (queue.speech(of: lane) == .http2 ? 5 : 3))
                return sum + (queue.speech(of: lane) == .http2 ? min(1, count) : count)
            }
            #expect(connections <= 7)
            #expect(lanes.reduce(0) { $0 + queue.waiting(in: $1) } == waiting.count)
        }
        // Nothing is forgotten: when all ends, everybody has had a turn.
        while let (element, lane) = active.first {
            queue.finish(in: lane)
            active[element] = nil
            while let admission = queue.next() {
                active[admission.element] = waiting.removeValue(forKey: admission.element)?.lane
            }
        }
        #expect(waiting.isEmpty)
    }

    /// Random events of many clients of a few users; what is kept about those that are busy must agree with what a slow count finds.
    @Test(arguments: 0..<20) func b2_countsWhatEachUserHasUnderWay(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = queue(total: 7, streams: 40, waiting: 500, heldUp: 5)
        let lane = queue.addLane(mayMultiplex: true, connections: 6)
        var places: [Int: Queue.Place] = [:]
        var (active, heldUp): ([Queue.Place], [Queue.Place]) = ([], [])
        for element in 0..<3_000 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0...3:
                let share = TransferShare(
                    user: .random(in: 0..<4, using: &random), client: .random(in: 0..<50, using: &random))
                places[element] = queue.enqueue(element, in: lane, share: share)
            case 4, 5:
                if !active.isEmpty { queue.finish(active.remove(at: .random(in: 0..<active.count, using: &random))) }
            case 6:
                if let place = active.first, queue.holdUp(place) { heldUp.append(active.removeFirst()) }
            default:
                if let place = heldUp.popLast() {
                    queue.goOn(place)
                    active.append(place)
                }
                queue.learn(isHTTP2: element % 500 < 400, in: lane)
            }
            while let admission = queue.next() {
                if let place = places.removeValue(forKey: admission.element) { active.append(place) }
            }
            let state = queue.lanes[lane]
            let busy = state.flows.values.filter { queue.flows[$0].active > 0 }
            #expect(Set(state.busy) == Set(busy) && state.busy.count == busy.count)
            var ofUser: [UInt32: Int] = [:]
            for flow in busy where state.speech == .http2 {
                ofUser[queue.flows[flow].share.user, default: 0] += queue.flows[flow].active
            }
            #expect(state.activeOfUser == ofUser)
            #expect(active.count == state.active)
        }
    }

    @Test func whatIsHeldUpMakesRoomForOthers() {
        var queue = queue()
        let lane = queue.addLane(mayMultiplex: false, connections: 2)
        for i in 0..<5 { _ = queue.enqueue(i, in: lane) }
        #expect(drain(&queue) == [0, 1])
        #expect(holdUp(&queue, lane))
        #expect(drain(&queue) == [2])
        queue.goOn(in: lane)
        #expect(queue.active(in: lane) == 3)
        queue.finish(in: lane)
        #expect(drain(&queue).isEmpty, "there are as many as there may be")
        queue.finish(in: lane)
        #expect(drain(&queue) == [3])
    }

    @Test func whatIsHeldUpMakesRoomInTheTotalToo() {
        var queue = queue(total: 2)
        let (lane, other) = (
            queue.addLane(mayMultiplex: false, connections: 2), queue.addLane(mayMultiplex: false, connections: 2)
        )
        for i in 0..<2 { _ = queue.enqueue(i, in: lane) }
        _ = queue.enqueue(2, in: other)
        #expect(drain(&queue) == [0, 2])
        #expect(holdUp(&queue, lane))
        #expect(drain(&queue) == [1])
    }

    @Test func tooManyThatAreHeldUpCountAgain() {
        var queue = queue(heldUp: 1)
        let lane = queue.addLane(mayMultiplex: false, connections: 2)
        for i in 0..<5 { _ = queue.enqueue(i, in: lane) }
        #expect(drain(&queue) == [0, 1])
        let (first, second) = (queue.holdUp(in: lane), queue.holdUp(in: lane))
        #expect(first && !second)
        #expect(drain(&queue) == [2])
        queue.goOn(in: lane)
        #expect(holdUp(&queue, lane))
    }

    @Test func anOriginOfWhichSomethingIsHeldUpStays() {
        var queue = queue()
        let lane = queue.addLane(mayMultiplex: false, connections: 2)
        _ = queue.enqueue(0, in: lane)
        #expect(drain(&queue) == [0])
        #expect(holdUp(&queue, lane))
        let isRemoved = queue.removeLane(lane)
        #expect(!isRemoved)
        queue.goOn(in: lane)
        queue.finish(in: lane)
        let isGone = queue.removeLane(lane)
        #expect(isGone)
    }
}

/// For tests in which there is one client.
extension AdmissionQueue {
    private mutating func place(in lane: Lane) -> Place? {
        let flow = flow(of: TransferShare(), in: lane)
        return Place(flow: flow, rank: 1, ticket: 0)
    }

    mutating func finish(in lane: Lane) { if let place = place(in: lane) { finish(place) } }
    mutating func holdUp(in lane: Lane) -> Bool { place(in: lane).map { holdUp($0) } ?? false }
    mutating func goOn(in lane: Lane) { if let place = place(in: lane) { goOn(place) } }
}

/// The same sequence for the same seed, so that a failure can be seen again.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}
