import Testing

@testable import CarpoolHTTP

/// B8: the accounts by which connections are divided, and the slots of flows without transfers.
struct AccountFairnessTests {
    typealias Queue = FairnessTests.Queue
    typealias Run = FairnessTests.Run
    typealias Element = FairnessTests.Element

    /// Checks every account against a slow count.
    func expectBalance(_ queue: Queue, _ comment: Comment? = nil) {
        var ofAccount = [Int](repeating: 0, count: queue.accounts.count)
        for origin in queue.origins where origin.protocolState != .http2 {
            for flow in origin.flows.values { ofAccount[queue.flows[flow].account] += queue.flows[flow].active }
        }
        for origin in queue.origins where origin.protocolState == .http2 && origin.active > 0 {
            let holder = origin.flows.values.first {
                queue.flows[$0].account == origin.chargedAccount && queue.flows[$0].active > 0
            }
            #expect(holder != nil, "a connection counts for a client that uses it")
            ofAccount[origin.chargedAccount] += 1
        }
        var ofUser = [Int](repeating: 0, count: queue.users.count)
        for account in queue.accounts.indices { ofUser[queue.accounts[account].user] += ofAccount[account] }
        #expect(queue.accounts.map(\.connections) == ofAccount, comment)
        #expect(queue.users.map(\.connections) == ofUser, comment)
        #expect(queue.connections == ofAccount.reduce(0, +), comment)
    }

    // MARK: The account of an HTTP/2 connection

    @Test func b8ASharedConnectionIsPaidByAClientThatUsesIt() {
        var run = Run(connections: 100, reservesConnections: true)
        let origin = FairnessTests().multiplexed(&run, firstOf: 1)
        // More clients than are kept without transfers.
        for client in 2..<30 { run.enqueue(1, of: client, user: UInt32(client), in: origin) }
        run.admit()
        run.finishFirst()
        expectBalance(run.queue)
        // Numbers of free accounts are reused.
        let other = run.queue.addOrigin(mayMultiplex: false, connections: 6)
        run.enqueue(1, of: 100, user: 100, in: other)
        run.admit()
        for _ in 0..<29 {
            run.finishFirst()
            expectBalance(run.queue)
        }
        #expect(run.active.isEmpty)
        #expect(run.queue.accounts.allSatisfy { $0.connections == 0 })
        #expect(run.queue.users.allSatisfy { $0.connections == 0 })
    }

    /// Random events of clients that connect and disconnect; after each, every account is equal to a slow count.
    @Test(arguments: 0..<8) func b8AccountsBalanceWhateverHappens(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var run = Run(connections: 30, reservesConnections: true)
        let origins = (0..<5).map { run.queue.addOrigin(mayMultiplex: $0 < 3, connections: 12, perClient: 2) }
        var paused: [Element] = []
        for number in 0..<2_000 {
            let origin = origins.randomElement(using: &random) ?? 0
            let client = Int.random(in: 0..<200, using: &random)
            switch Int.random(in: 0..<9, using: &random) {
            case 0, 1, 2: run.enqueue(1, of: client, user: UInt32(client % 9), in: origin, from: number)
            case 3:
                let waiting = run.slots.keys.filter { !run.active.contains($0) && !paused.contains($0) }
                if let element = waiting.min(by: { $0.number < $1.number }) {
                    if let slot = run.slots.removeValue(forKey: element) { run.queue.withdraw(slot) }
                }
            case 4, 5: run.finishFirst()
            case 6:
                let element = run.active.randomElement(using: &random)
                if let element, let slot = run.slots[element], run.queue.pause(slot) {
                    run.active.removeAll { $0 == element }
                    paused.append(element)
                }
            case 7:
                if let element = paused.popLast(), let slot = run.slots[element] {
                    run.queue.resume(slot)
                    run.active.append(element)
                }
            default:
                if run.queue.protocolState(of: origin) == .probing {
                    run.queue.didNegotiate(isHTTP2: origin < 2, in: origin)
                }
            }
            run.admit()
            expectBalance(run.queue, "event \(number)")
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
        expectBalance(run.queue)
        #expect(run.slots.isEmpty, "all were served")
        #expect(run.queue.connections == 0)
        #expect(origins.allSatisfy { run.queue.origins[$0].flows.count <= 16 })
    }

    // MARK: Waiting for a connection

    /// A client that has its share of all connections, and sends a request to an origin without a connection.
    func parked(_ run: inout Run, isCold: Bool, count: Int = 1) -> (origin: Queue.OriginID, plain: Queue.OriginID) {
        let origin = run.queue.addOrigin(mayMultiplex: true, connections: 6)
        if !isCold {
            run.enqueue(1, of: 9, user: 9, in: origin)
            run.admit()
            run.queue.didNegotiate(isHTTP2: true, in: origin)
            run.finishFirst()
        }
        let plain = run.queue.addOrigin(mayMultiplex: false, connections: 6)
        run.enqueue(4, of: 1, in: plain)
        run.admit()
        run.enqueue(count, of: 1, in: origin, from: 100)
        run.admit()
        #expect(run.queue.active(in: origin) == 0)
        return (origin, plain)
    }

    @Test(arguments: [true, false]) func b8WhoWaitsForAConnectionUsesTheOneThatAnotherMakes(isCold: Bool) {
        var run = Run(connections: 8, reservesConnections: true)
        let (origin, _) = parked(&run, isCold: isCold)
        run.enqueue(1, of: 2, user: 2, in: origin)
        run.admit()
        if isCold { run.queue.didNegotiate(isHTTP2: true, in: origin) }
        run.admit()
        #expect(run.active.contains(Element(client: 1, number: 100)))
        #expect(run.queue.waiting(in: origin) == 0)
        while !run.active.isEmpty {
            run.finishFirst()
            run.admit()
        }
        #expect(run.served.count == (isCold ? 6 : 7), "each once")
    }

    @Test func b8WhoWaitsForAConnectionUsesTheOneThatGoesOn() {
        var run = Run(connections: 8, reservesConnections: true)
        let origin = FairnessTests().multiplexed(&run, firstOf: 2)
        guard let slot = run.slots[Element(client: 2, number: 0)] else { return }
        let isPaused = run.queue.pause(slot)
        #expect(isPaused)
        let plain = run.queue.addOrigin(mayMultiplex: false, connections: 6)
        run.enqueue(4, of: 1, in: plain)
        run.admit()
        run.enqueue(1, of: 1, in: origin, from: 100)
        run.admit()
        #expect(run.queue.waiting(in: origin) == 1)
        run.queue.resume(slot)
        run.admit()
        #expect(run.queue.waiting(in: origin) == 0)
    }

    @Test func b8AConnectionThatBecomesFreeGivesNoMoreStreams() {
        var run = Run(connections: 8, reservesConnections: true)
        let (origin, _) = parked(&run, isCold: false, count: 100)
        for client in 2..<50 { run.enqueue(100, of: client, in: origin) }
        run.admit()
        let active = run.queue.active(in: origin)
        #expect(active < 100)
        // One to the other host.
        run.finishFirst()
        run.admit()
        #expect(run.queue.active(in: origin) == active)
    }

    @Test func b8WhatIsUrgentDoesNotWaitWithWhatIsNot() {
        var run = Run(connections: 1)
        let busy = run.queue.addOrigin(mayMultiplex: false, connections: 1)
        run.enqueue(1, of: 0, in: busy)
        run.admit()
        let origins = (0..<3).map { _ in run.queue.addOrigin(mayMultiplex: false, connections: 1) }
        // A client's unimportant transfer waits for a connection, and those of others that are not.
        run.enqueue(1, of: 1, in: origins[0], priority: .low, from: 10)
        run.enqueue(5, of: 2, in: origins[1], from: 20)
        run.admit()
        run.enqueue(1, of: 1, in: origins[0], priority: .high, from: 11)
        run.enqueue(1, of: 3, in: origins[2], priority: .low, from: 30)
        run.admit()
        if let slot = run.slots[Element(client: 3, number: 30)] {
            run.slots[Element(client: 3, number: 30)] = run.queue.move(slot, to: .high)
        }
        run.serve(9)
        #expect(run.served.dropFirst().prefix(2).map(\.number) == [11, 30])
        while !run.active.isEmpty { run.finishFirst() }
        #expect(run.queue.connections == 0)
    }

    @Test func b8FlowsThatChangeTheirPriorityWhileTheyWaitLeaveNothingBehind() {
        var run = Run(connections: 1)
        let busy = run.queue.addOrigin(mayMultiplex: false, connections: 1)
        run.enqueue(1, of: 0, in: busy)
        run.admit()
        let origin = run.queue.addOrigin(mayMultiplex: false, connections: 1)
        for client in 1...20 { run.enqueue(1, of: client, in: origin, priority: .low) }
        run.admit()
        for turn in 0..<2_000 {
            let element = Element(client: turn % 20 + 1, number: 0)
            guard let slot = run.slots[element] else { continue }
            run.slots[element] = run.queue.move(slot, to: [.high, .normal, .low][turn % 3])
            run.admit()
        }
        #expect(run.queue.parked.count <= 60)
        run.serve(21)
        #expect(run.served.count == 21 && run.slots.count <= 1)
        while !run.active.isEmpty { run.finishFirst() }
        let isGone = run.queue.removeOrigin(origin)
        #expect(isGone)
        #expect(run.queue.connections == 0)
    }

    // MARK: Slots

    @Test func b8ClientsThatGiveUpAtABusyOriginLeaveNothingBehind() {
        var run = Run()
        let origin = run.queue.addOrigin(mayMultiplex: false, connections: 1)
        run.enqueue(1, of: 0, in: origin)
        run.admit()
        for client in 1...5_000 {
            let slot = run.queue.enqueue(
                Element(client: client, number: 0), in: origin, share: TransferShare(client: client))
            if let slot { run.queue.withdraw(slot) }
        }
        #expect(run.queue.flows.count < 200)
        #expect(run.queue.origins[origin].ring.count < 200)
        run.finishFirst()
        run.admit()
        #expect(run.queue.origins[origin].flows.count <= 16)
        #expect(run.queue.accountOfShare.count <= 16)
    }

    @Test func b8ClientsThatGiveUpWithoutAConnectionLeaveNothingBehind() {
        var run = Run(connections: 1)
        let busy = run.queue.addOrigin(mayMultiplex: false, connections: 1)
        run.enqueue(1, of: 0, in: busy)
        run.admit()
        let origin = run.queue.addOrigin(mayMultiplex: false, connections: 1)
        for client in 1...5_000 {
            let slot = run.queue.enqueue(
                Element(client: client, number: 0), in: origin, share: TransferShare(client: client))
            run.admit()
            if let slot { run.queue.withdraw(slot) }
        }
        #expect(run.queue.flows.count < 200)
        #expect(run.queue.parked.count < 200)
        #expect(run.queue.accountOfShare.count <= 17)
        run.finishFirst()
        run.admit()
        let isGone = run.queue.removeOrigin(origin)
        #expect(isGone)
        #expect(run.queue.accountOfShare.count <= 1)
    }

    @Test func b8PlacesGivenUpInTheMiddleAreFree() {
        var queue = Queue(limits: .init(waiting: 20))
        let origin = queue.addOrigin(mayMultiplex: false, connections: 1)
        func enqueue(_ number: Int) -> Queue.Slot? { queue.enqueue(Element(client: 0, number: number), in: origin) }
        _ = enqueue(0)
        let first = queue.next()
        #expect(first != nil)
        var last = enqueue(1)
        for number in 2..<10_000 {
            let next = enqueue(number)
            #expect(next != nil)
            if number > 2, let last { queue.withdraw(last) }
            last = next
            #expect(queue.waiting(in: origin) <= 3)
            #expect(queue.flows.allSatisfy { $0.queues.allSatisfy { $0.extent < 200 } })
        }
    }
    @Test func b8AChangeOfPriorityLosesNoPlaceInAFullQueue() {
        var queue = Queue(limits: .init(waiting: 3))
        let origin = queue.addOrigin(mayMultiplex: false, connections: 1)
        var slots: [Queue.Slot] = []
        for number in 0..<4 {
            let slot = queue.enqueue(Element(client: 0, number: number), in: origin)
            if let slot { slots.append(slot) }
            if number == 0 { _ = queue.next() }
        }
        #expect(slots.count == 4)
        let refused = queue.enqueue(Element(client: 0, number: 4), in: origin)
        #expect(refused == nil)
        // From the middle, there and back, and one that does not wait any more.
        slots[2] = queue.move(slots[2], to: .high)
        slots[2] = queue.move(slots[2], to: .low)
        let started = queue.move(slots[0], to: .high)
        #expect(started.rank == slots[0].rank)
        #expect(queue.waiting == 3)
        var served: [Int] = []
        while queue.active(in: origin) > 0 {
            queue.finish(slots[served.last ?? 0])
            if let next = queue.next() { served.append(next.element.number) }
        }
        #expect(served == [1, 3, 2])
    }
}
