import Testing

@testable import CarpoolHTTP

/// B8: how connections and turns are divided among clients.
struct FairnessTests {
    /// The owner of an element, and its number.
    struct Element: Hashable {
        let client: Int
        let number: Int
    }

    typealias Queue = AdmissionQueue<Element>

    /// A queue with the slots of its running elements, so that they can end.
    struct Run {
        var queue: Queue
        var slots: [Element: Queue.Slot] = [:]
        var active: [Element] = []
        var served: [Element] = []

        init(connections: Int = 1_000, reservesConnections: Bool = false) {
            queue = Queue(limits: .init(connections: connections, reservesConnections: reservesConnections))
        }

        mutating func enqueue(
            _ count: Int, of client: Int, user: UInt32 = 1, in origin: Int, priority: TransferPriority = .normal,
            from first: Int = 0
        ) {
            for number in first..<first + count {
                let element = Element(client: client, number: number)
                slots[element] = queue.enqueue(
                    element, in: origin, share: TransferShare(user: user, client: client), priority: priority)
            }
        }

        mutating func admit() {
            while let next = queue.next() {
                active.append(next.element)
                served.append(next.element)
            }
        }

        /// Ends the one that has run for longest.
        mutating func finishFirst(turns: Int = 0) {
            guard !active.isEmpty else { return }
            let element = active.removeFirst()
            if let slot = slots.removeValue(forKey: element) { queue.finish(slot, turns: turns) }
        }

        /// Serves until this many were served.
        mutating func serve(_ count: Int) {
            admit()
            while served.count < count, !active.isEmpty {
                finishFirst()
                admit()
            }
        }
    }

    /// The max-min fair share of each.
    func fairShares(of total: Int, among wants: [Int]) -> [Int] {
        var shares = [Int](repeating: 0, count: wants.count)
        var left = total
        while left > 0 {
            let open = wants.indices.filter { shares[$0] < wants[$0] }
            guard !open.isEmpty else { break }
            for index in open where left > 0 {
                shares[index] += 1
                left -= 1
            }
        }
        return shares
    }

    @Test func b8TenClientsGetEqualShares() {
        let wants = [1, 5, 10, 30, 100, 200, 300, 500, 800, 1_000]
        var run = Run()
        let origin = run.queue.addOrigin(mayMultiplex: false, connections: 6, perClient: 6)
        // The greediest comes first.
        for client in wants.indices.reversed() { run.enqueue(wants[client], of: client, in: origin) }
        run.serve(1_000)
        let counts = wants.indices.map { client in run.served.prefix(1_000).count { $0.client == client } }
        let ratios = zip(counts, fairShares(of: 1_000, among: wants)).map { Double($0) / Double($1) }
        let sum = ratios.reduce(0, +)
        let jain = sum * sum / (Double(ratios.count) * ratios.reduce(0) { $0 + $1 * $1 })
        #expect(jain >= 0.99, "\(counts)")
        for client in wants.indices {
            let numbers = run.served.filter { $0.client == client }.map(\.number)
            #expect(numbers == Array(0..<numbers.count), "a client's own are served in order")
        }
    }

    @Test(arguments: [6, 24]) func b8OneBehindTenThousandWaitsTwoTurns(connections: Int) {
        var run = Run()
        let origin = run.queue.addOrigin(mayMultiplex: false, connections: connections, perClient: connections)
        run.enqueue(10_000, of: 1, in: origin)
        run.admit()
        run.enqueue(1, of: 2, in: origin)
        for _ in 0..<2 {
            run.finishFirst()
            run.admit()
        }
        #expect(run.served.suffix(2).contains { $0.client == 2 })
    }

    /// A lane that speaks HTTP/2, whose first transfer is under way.
    func multiplexed(_ run: inout Run, firstOf client: Int) -> Queue.OriginID {
        let origin = run.queue.addOrigin(mayMultiplex: true, connections: 6)
        run.enqueue(1, of: client, in: origin)
        run.admit()
        run.queue.didNegotiate(isHTTP2: true, in: origin)
        return origin
    }

    @Test func b8SlowAnswersOfAClientLeaveStreamsToOthers() {
        var run = Run(reservesConnections: true)
        let origin = multiplexed(&run, firstOf: 1)
        run.enqueue(500, of: 1, in: origin, from: 1)
        run.admit()
        #expect(run.queue.active(in: origin) == 75)
        // Other clients of the user get what is left, and never all of it.
        for client in 2..<50 { run.enqueue(100, of: client, in: origin) }
        run.admit()
        #expect(Set(run.active.map(\.client)).count > 1)
        #expect(run.queue.active(in: origin) == 88)
        // Nothing has ended, and another user has its turn at once.
        run.enqueue(1, of: 100, user: 2, in: origin)
        run.admit()
        #expect(run.served.last?.client == 100)
    }

    @Test func b8StreamsThatBecomeFreeAreUsed() {
        var run = Run(reservesConnections: true)
        let origin = multiplexed(&run, firstOf: 1)
        run.enqueue(999, of: 1, in: origin, from: 1)
        for client in 2...20 { run.enqueue(50, of: client, in: origin) }
        run.serve(1_000 + 19 * 50)
        #expect(run.served.count == 1_000 + 19 * 50)
        #expect(run.queue.waiting(in: origin) == 0)
    }

    @Test func b8SixSlowAnswersOfAClientDoNotBlockAnother() {
        var run = Run()
        let origin = run.queue.addOrigin(mayMultiplex: false, connections: 24, perClient: 6)
        run.enqueue(100, of: 1, in: origin)
        run.admit()
        #expect(run.served.count == 6)
        run.enqueue(1, of: 2, in: origin)
        run.admit()
        #expect(run.served.last?.client == 2)
        for client in 3..<10 { run.enqueue(100, of: client, in: origin) }
        run.admit()
        #expect(run.queue.active(in: origin) == 24)
    }

    @Test func b8AClientLeavesConnectionsForTheNext() {
        var run = Run(connections: 256, reservesConnections: true)
        for host in 0..<300 {
            run.enqueue(
                1, of: 1, in: run.queue.addOrigin(mayMultiplex: false, connections: 24, perClient: 6), from: host)
        }
        run.admit()
        #expect(run.served.count == 128)
        // No element of the first one ever ends.
        for client in 2...5 {
            let origin = run.queue.addOrigin(mayMultiplex: false, connections: 24, perClient: 6)
            run.enqueue(1, of: client, user: 2, in: origin)
            run.admit()
            #expect(run.served.last?.client == client)
        }
    }

    @Test func b8MadeUpNamesWinNothingFromAnotherUser() {
        var run = Run(connections: 256, reservesConnections: true)
        for client in 0..<300 {
            let origin = run.queue.addOrigin(mayMultiplex: false, connections: 24, perClient: 6)
            run.enqueue(1, of: client, user: 1, in: origin)
        }
        run.admit()
        #expect(run.served.count <= 192)
        let origin = run.queue.addOrigin(mayMultiplex: false, connections: 24, perClient: 6)
        run.enqueue(100, of: 1_000, user: 2, in: origin)
        run.admit()
        #expect(run.served.count { $0.client == 1_000 } == 6)
    }

    @Test func usersTakeTurnsBeforeTheirClientsDo() {
        var run = Run()
        let origin = run.queue.addOrigin(mayMultiplex: false, connections: 1)
        for client in 0..<50 { run.enqueue(10, of: client, user: 1, in: origin) }
        run.enqueue(100, of: 100, user: 2, in: origin)
        run.serve(100)
        let second = run.served.prefix(100).count { $0.client == 100 }
        #expect((49...51).contains(second))
    }

    @Test func prioritiesAreStrictButForAFewTurns() {
        var run = Run()
        let origin = run.queue.addOrigin(mayMultiplex: false, connections: 1)
        run.enqueue(1_000, of: 1, in: origin, priority: .low)
        run.enqueue(1_000, of: 2, in: origin, priority: .normal)
        run.enqueue(1_000, of: 3, in: origin, priority: .high)
        run.serve(160)
        let counts = [3, 2, 1].map { client in run.served.prefix(160).count { $0.client == client } }
        #expect((138...142).contains(counts[0]), "\(counts)")
        #expect((9...11).contains(counts[1]))
        #expect((9...11).contains(counts[2]))
    }

    @Test func oneThatHasTakenMuchLetsOthersPass() {
        var run = Run()
        let origin = run.queue.addOrigin(mayMultiplex: false, connections: 1)
        run.enqueue(200, of: 1, in: origin)
        run.enqueue(200, of: 2, in: origin)
        run.admit()
        for _ in 0..<100 {
            run.finishFirst(turns: run.active.first?.client == 1 ? 4 : 0)
            run.admit()
        }
        let first = run.served.count { $0.client == 1 }
        #expect((15...30).contains(first), "\(first)")
    }

    @Test func whatWaitsKnowsForWhatAndWhere() {
        var run = Run(connections: 8, reservesConnections: true)
        let origin = run.queue.addOrigin(mayMultiplex: false, connections: 3, perClient: 2)
        run.enqueue(5, of: 1, in: origin)
        run.enqueue(3, of: 2, in: origin)
        run.admit()
        func slot(_ client: Int, _ number: Int) -> Queue.Slot? { run.slots[Element(client: client, number: number)] }
        #expect(slot(1, 4).map { run.queue.obstacle($0) } == .client)
        #expect(slot(1, 4).map { run.queue.position($0) } == 2)
        #expect(slot(2, 2).map { run.queue.obstacle($0) } == .host)
    }

    /// Random events of many clients; after each, every limit holds, and in the end every client has had a turn.
    @Test(arguments: 0..<10) func b8LimitsHoldWhateverHappens(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var run = Run(connections: 40, reservesConnections: true)
        let origins = (0..<12).map { run.queue.addOrigin(mayMultiplex: $0 % 3 == 0, connections: 5, perClient: 2) }
        var shares: [Element: (origin: Int, client: Int)] = [:]
        var paused: Set<Element> = []
        for number in 0..<3_000 {
            let (origin, client) = (origins.randomElement(using: &random) ?? 0, Int.random(in: 0..<20, using: &random))
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1, 2:
                let priority = TransferPriority.allCases.randomElement(using: &random) ?? .normal
                run.enqueue(1, of: client, user: UInt32(client % 4), in: origin, priority: priority, from: number)
                shares[Element(client: client, number: number)] = (origin, client)
            case 3:
                let waiting = shares.keys.filter { !run.active.contains($0) && !paused.contains($0) }
                if let element = waiting.min(by: { $0.number < $1.number }), let slot = run.slots[element] {
                    run.queue.withdraw(slot)
                    run.slots[element] = nil
                    shares[element] = nil
                }
            case 4, 5:
                if let element = run.active.first {
                    run.finishFirst(turns: Int.random(in: 0..<40, using: &random))
                    shares[element] = nil
                }
            case 6:
                if let element = run.active.randomElement(using: &random), let slot = run.slots[element],
                    run.queue.pause(slot)
                {
                    run.active.removeAll { $0 == element }
                    paused.insert(element)
                } else if let element = paused.first, let slot = run.slots[element] {
                    run.queue.resume(slot)
                    paused.remove(element)
                    run.active.append(element)
                }
            default:
                if run.queue.protocolState(of: origin) == .probing {
                    run.queue.didNegotiate(isHTTP2: origin % 2 == 0, in: origin)
                }
                run.queue.resetProtocol(origin)
            }
            run.admit()
            #expect(run.queue.paused == paused.count)
            for origin in origins {
                #expect(run.queue.active(in: origin) == run.active.count { shares[$0]?.origin == origin })
                #expect(run.queue.waiting(in: origin) >= 0)
            }
            #expect(run.queue.connections == origins.reduce(0) { $0 + run.queue.cost(of: $1) })
            #expect(run.queue.accounts.reduce(0) { $0 + $1.connections } == run.queue.connections)
            #expect(run.queue.users.reduce(0) { $0 + $1.connections } == run.queue.connections)
        }
        for element in paused { if let slot = run.slots[element] { run.queue.resume(slot) } }
        run.active += paused
        for _ in 0..<10_000 where !run.active.isEmpty {
            run.finishFirst()
            for origin in origins where run.queue.protocolState(of: origin) == .probing {
                run.queue.didNegotiate(isHTTP2: true, in: origin)
            }
            run.admit()
        }
        #expect(origins.reduce(0) { $0 + run.queue.waiting(in: $1) } == 0)
        #expect(run.queue.waiting == 0)
        #expect(run.queue.connections == 0)
    }
}
