import Testing

@testable import CarpoolHTTP

struct AdmissionQueueTests {
    typealias Queue = AdmissionQueue<Int>

    func queue(total: Int = 4, streams: Int = 10, waiting: Int = 1000, paused: Int = 100) -> Queue {
        Queue(
            limits: .init(
                connections: total, streamsPerConnection: streams, waiting: waiting,
                paused: paused, reservesConnections: false))
    }

    func drain(_ queue: inout Queue) -> [Int] {
        var admitted: [Int] = []
        while let admission = queue.next() { admitted.append(admission.element) }
        return admitted
    }

    func pause(_ queue: inout Queue, _ origin: Int) -> Bool { queue.pause(in: origin) }

    @Test func anOriginWithoutTLSGetsItsConnectionsAtOnce() {
        var queue = queue()
        let origin = queue.addOrigin(mayMultiplex: false, connections: 2)
        for i in 0..<5 { _ = queue.enqueue(i, in: origin) }
        #expect(drain(&queue) == [0, 1])
        queue.finish(in: origin)
        #expect(drain(&queue) == [2])
        #expect(queue.active(in: origin) == 2)
        #expect(queue.waiting(in: origin) == 2)
    }

    @Test func aClientGetsTheConnectionsOfItsLargestSetting() {
        var queue = queue(total: 100)
        let origin = queue.addOrigin(mayMultiplex: false, connections: 20, perClient: 2)
        for i in 0..<5 { _ = queue.enqueue(i, in: origin) }
        #expect(drain(&queue) == [0, 1])
        _ = queue.enqueue(5, in: origin, connections: 4)
        #expect(drain(&queue) == [2, 3])
        // A smaller setting does not wait for what the larger one has started.
        _ = queue.enqueue(6, in: origin, connections: 1)
        queue.finish(in: origin)
        #expect(drain(&queue) == [4])
        while queue.active(in: origin) > 0 {
            queue.finish(in: origin)
            _ = drain(&queue)
        }
        for i in 0..<5 { _ = queue.enqueue(i, in: origin, connections: 1) }
        #expect(drain(&queue) == [0])
    }

    @Test func noSettingGivesAClientMoreThanHalf() {
        var queue = queue(total: 100)
        let origin = queue.addOrigin(mayMultiplex: false, connections: 20, perClient: 2)
        for i in 0..<30 { _ = queue.enqueue(i, in: origin, connections: 256) }
        #expect(drain(&queue).count == 10)
    }

    @Test func theFirstToAColdOriginGoesAlone() {
        var queue = queue()
        let origin = queue.addOrigin(mayMultiplex: true, connections: 2)
        for i in 0..<5 { _ = queue.enqueue(i, in: origin) }
        let first = queue.next()
        #expect(first?.element == 0)
        #expect(first?.isFirst == true)
        #expect(drain(&queue).isEmpty)
    }

    @Test func whatItFindsOutDecidesForTheOthers() {
        for (isHTTP2, expected) in [(true, 10), (false, 2)] {
            var queue = queue()
            let origin = queue.addOrigin(mayMultiplex: true, connections: 2)
            for i in 0..<20 { _ = queue.enqueue(i, in: origin) }
            _ = drain(&queue)
            queue.didNegotiate(isHTTP2: isHTTP2, in: origin)
            #expect(drain(&queue).count == expected - 1)
            #expect(queue.active(in: origin) == expected)
        }
    }

    @Test func afterASecondTheOthersGoAsWithHTTP1() {
        var queue = queue()
        let origin = queue.addOrigin(mayMultiplex: true, connections: 2)
        for i in 0..<5 { _ = queue.enqueue(i, in: origin) }
        _ = drain(&queue)
        queue.probeExpired(origin)
        #expect(queue.protocolState(of: origin) == .undecided)
        #expect(drain(&queue) == [1])
        queue.finish(in: origin)
        queue.finish(in: origin)
        let next = queue.next()
        #expect(next?.isFirst == true)
    }

    @Test func theNextGoesFirstIfTheFirstFails() {
        var queue = queue()
        let origin = queue.addOrigin(mayMultiplex: true, connections: 2)
        for i in 0..<3 { _ = queue.enqueue(i, in: origin) }
        for i in 0..<3 {
            let first = queue.next()
            #expect(first?.element == i)
            #expect(first?.isFirst == true)
            #expect(drain(&queue).isEmpty)
            queue.finish(in: origin)
        }
    }

    @Test func manyStreamsCostOneConnectionOfTheTotal() {
        var queue = queue(total: 2)
        let multiplexed = queue.addOrigin(mayMultiplex: true, connections: 2)
        let plain = queue.addOrigin(mayMultiplex: false, connections: 2)
        for i in 0..<10 { _ = queue.enqueue(i, in: multiplexed) }
        _ = drain(&queue)
        queue.didNegotiate(isHTTP2: true, in: multiplexed)
        #expect(drain(&queue).count == 9)
        for i in 100..<105 { _ = queue.enqueue(i, in: plain) }
        #expect(drain(&queue) == [100])
        for _ in 0..<10 { queue.finish(in: multiplexed) }
        #expect(drain(&queue) == [101])
    }

    @Test func originsTakeTurnsWhenTheTotalIsUsedUp() {
        var queue = queue(total: 3)
        let origins = (0..<4).map { _ in queue.addOrigin(mayMultiplex: false, connections: 3) }
        for origin in origins { for i in 0..<10 { _ = queue.enqueue(origin * 100 + i, in: origin) } }
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
            let counts = origins.map { origin in served[..<end].count { $0 / 100 == origin } }
            #expect((counts.max() ?? 0) - (counts.min() ?? 0) <= 3)
        }
        for origin in origins { #expect(served.filter { $0 / 100 == origin } == (0..<10).map { origin * 100 + $0 }) }
    }

    @Test func whoGivesUpIsNotAdmitted() {
        var queue = queue()
        let origin = queue.addOrigin(mayMultiplex: false, connections: 1)
        let tickets = (0..<4).map { queue.enqueue($0, in: origin) }
        #expect(drain(&queue) == [0])
        if let token = tickets[1] { queue.withdraw(token) }
        queue.finish(in: origin)
        #expect(drain(&queue) == [2])
    }

    @Test func isFullAtItsLimitAndRecovers() {
        var queue = queue(waiting: 3)
        let origin = queue.addOrigin(mayMultiplex: false, connections: 1)
        _ = queue.enqueue(0, in: origin)
        _ = drain(&queue)
        let tickets = (1...3).map { queue.enqueue($0, in: origin) }
        #expect(tickets.allSatisfy { $0 != nil })
        let refused = queue.enqueue(4, in: origin)
        #expect(refused == nil)
        if let token = tickets[2] { queue.withdraw(token) }
        let accepted = queue.enqueue(5, in: origin)
        #expect(accepted != nil)
        queue.finish(in: origin)
        #expect(drain(&queue) == [1])
        let acceptedAgain = queue.enqueue(6, in: origin)
        #expect(acceptedAgain != nil)
    }

    @Test func anEmptyLaneCanGoAndItsNumberComesBack() {
        var queue = queue()
        let origin = queue.addOrigin(mayMultiplex: false, connections: 2)
        _ = queue.enqueue(1, in: origin)
        var isGone = queue.removeOrigin(origin)
        #expect(!isGone)
        _ = drain(&queue)
        isGone = queue.removeOrigin(origin)
        #expect(!isGone)
        queue.finish(in: origin)
        isGone = queue.removeOrigin(origin)
        #expect(isGone)
        let again = queue.addOrigin(mayMultiplex: true, connections: 2)
        #expect(again == origin)
        #expect(queue.protocolState(of: origin) == .cold)
    }

    @Test func forgetsTheProtocolWithTheLastConnection() {
        var queue = queue()
        let origin = queue.addOrigin(mayMultiplex: true, connections: 2)
        _ = queue.enqueue(1, in: origin)
        _ = drain(&queue)
        queue.didNegotiate(isHTTP2: true, in: origin)
        queue.resetProtocol(origin)
        #expect(queue.protocolState(of: origin) == .http2)
        queue.finish(in: origin)
        queue.resetProtocol(origin)
        #expect(queue.protocolState(of: origin) == .cold)
    }

    /// Random events; after each the sums must agree with what a slow count finds.
    @Test(arguments: 0..<20) func keepsItsLimitsWhateverHappens(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = queue(total: 7, streams: 5, waiting: 50)
        let origins = (0..<5).map { queue.addOrigin(mayMultiplex: $0 % 2 == 0, connections: 3) }
        var waiting: [Int: (origin: Int, token: Queue.Slot)] = [:]
        var active: [Int: Int] = [:]
        for element in 0..<2_000 {
            let origin = origins.randomElement(using: &random) ?? 0
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1:
                if let token = queue.enqueue(element, in: origin) { waiting[element] = (origin, token) }
            case 2:
                if let (element, slot) = waiting.randomElement(using: &random) {
                    queue.withdraw(slot.token)
                    waiting[element] = nil
                }
            case 3, 4:
                if let (element, origin) = active.randomElement(using: &random) {
                    queue.finish(in: origin)
                    active[element] = nil
                }
            default:
                if queue.protocolState(of: origin) == .probing { queue.didNegotiate(isHTTP2: origin == 0, in: origin) }
                if queue.active(in: origin) == 0 { queue.resetProtocol(origin) }
            }
            while let admission = queue.next() {
                let slot = waiting.removeValue(forKey: admission.element)
                #expect(slot != nil)
                active[admission.element] = slot?.origin
            }
            let connections = origins.reduce(0) { sum, origin in
                let count = active.values.count { $0 == origin }
                #expect(count == queue.active(in: origin))
                #expect(count <= (queue.protocolState(of: origin) == .http2 ? 5 : 3))
                return sum + (queue.protocolState(of: origin) == .http2 ? min(1, count) : count)
            }
            #expect(connections <= 7)
            #expect(origins.reduce(0) { $0 + queue.waiting(in: $1) } == waiting.count)
        }
        // Nothing is forgotten: at the end every ticket has had a turn.
        while let (element, origin) = active.first {
            queue.finish(in: origin)
            active[element] = nil
            while let admission = queue.next() {
                active[admission.element] = waiting.removeValue(forKey: admission.element)?.origin
            }
        }
        #expect(waiting.isEmpty)
    }

    /// Random events of many clients of a few users; what is kept about those that are busy must agree with what a slow
    /// count finds.
    @Test(arguments: 0..<20) func b2_countsWhatEachUserHasUnderWay(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = queue(total: 7, streams: 40, waiting: 500, paused: 5)
        let origin = queue.addOrigin(mayMultiplex: true, connections: 6)
        var slots: [Int: Queue.Slot] = [:]
        var (active, paused): ([Queue.Slot], [Queue.Slot]) = ([], [])
        for element in 0..<3_000 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0...3:
                let share = TransferShare(
                    user: .random(in: 0..<4, using: &random), client: .random(in: 0..<50, using: &random))
                slots[element] = queue.enqueue(element, in: origin, share: share)
            case 4, 5:
                if !active.isEmpty { queue.finish(active.remove(at: .random(in: 0..<active.count, using: &random))) }
            case 6:
                if let slot = active.first, queue.pause(slot) { paused.append(active.removeFirst()) }
            default:
                if let slot = paused.popLast() {
                    queue.resume(slot)
                    active.append(slot)
                }
                queue.didNegotiate(isHTTP2: element % 500 < 400, in: origin)
            }
            while let admission = queue.next() {
                if let slot = slots.removeValue(forKey: admission.element) { active.append(slot) }
            }
            let state = queue.origins[origin]
            let busy = state.flows.values.filter { queue.flows[$0].active > 0 }
            #expect(Set(state.busy) == Set(busy) && state.busy.count == busy.count)
            var ofUser: [UInt32: Int] = [:]
            for flow in busy where state.protocolState == .http2 {
                ofUser[queue.flows[flow].share.user, default: 0] += queue.flows[flow].active
            }
            #expect(state.activeOfUser == ofUser)
            #expect(active.count == state.active)
        }
    }

    @Test func whatIsHeldUpMakesRoomForOthers() {
        var queue = queue()
        let origin = queue.addOrigin(mayMultiplex: false, connections: 2)
        for i in 0..<5 { _ = queue.enqueue(i, in: origin) }
        #expect(drain(&queue) == [0, 1])
        #expect(pause(&queue, origin))
        #expect(drain(&queue) == [2])
        queue.resume(in: origin)
        #expect(queue.active(in: origin) == 3)
        queue.finish(in: origin)
        #expect(drain(&queue).isEmpty, "the maximum is reached")
        queue.finish(in: origin)
        #expect(drain(&queue) == [3])
    }

    @Test func whatIsHeldUpMakesRoomInTheTotalToo() {
        var queue = queue(total: 2)
        let (origin, other) = (
            queue.addOrigin(mayMultiplex: false, connections: 2), queue.addOrigin(mayMultiplex: false, connections: 2)
        )
        for i in 0..<2 { _ = queue.enqueue(i, in: origin) }
        _ = queue.enqueue(2, in: other)
        #expect(drain(&queue) == [0, 2])
        #expect(pause(&queue, origin))
        #expect(drain(&queue) == [1])
    }

    @Test func tooManyThatAreHeldUpCountAgain() {
        var queue = queue(paused: 1)
        let origin = queue.addOrigin(mayMultiplex: false, connections: 2)
        for i in 0..<5 { _ = queue.enqueue(i, in: origin) }
        #expect(drain(&queue) == [0, 1])
        let (first, second) = (queue.pause(in: origin), queue.pause(in: origin))
        #expect(first && !second)
        #expect(drain(&queue) == [2])
        queue.resume(in: origin)
        #expect(pause(&queue, origin))
    }

    @Test func anOriginOfWhichSomethingIsHeldUpStays() {
        var queue = queue()
        let origin = queue.addOrigin(mayMultiplex: false, connections: 2)
        _ = queue.enqueue(0, in: origin)
        #expect(drain(&queue) == [0])
        #expect(pause(&queue, origin))
        let isRemoved = queue.removeOrigin(origin)
        #expect(!isRemoved)
        queue.resume(in: origin)
        queue.finish(in: origin)
        let isGone = queue.removeOrigin(origin)
        #expect(isGone)
    }
}

/// For tests in which there is one client.
extension AdmissionQueue {
    private mutating func slot(in origin: OriginID) -> Slot? {
        let flow = flow(of: TransferShare(), in: origin)
        return Slot(flow: flow, rank: 1, token: 0)
    }

    mutating func finish(in origin: OriginID) { if let slot = slot(in: origin) { finish(slot) } }
    mutating func pause(in origin: OriginID) -> Bool { slot(in: origin).map { pause($0) } ?? false }
    mutating func resume(in origin: OriginID) { if let slot = slot(in: origin) { resume(slot) } }
}

/// The same sequence for the same seed, so that a failure can be repeated.
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
