import Testing

@testable import CarpoolHTTP

/// B8: the accounts by which connections are divided, and the room that flows without transfers take.
struct AccountFairnessTests {
    typealias Queue = FairnessTests.Queue
    typealias Run = FairnessTests.Run
    typealias Element = FairnessTests.Element

    /// Checks every account against a slow count.
    func expectBalance(_ queue: Queue, _ comment: Comment? = nil) {
        var ofParty = [Int](repeating: 0, count: queue.parties.count)
        for lane in queue.lanes where lane.speech != .http2 {
            for flow in lane.flows.values { ofParty[queue.flows[flow].party] += queue.flows[flow].active }
        }
        for lane in queue.lanes where lane.speech == .http2 && lane.active > 0 {
            let holder = lane.flows.values.first { queue.flows[$0].party == lane.holder && queue.flows[$0].active > 0 }
            #expect(holder != nil, "a client that uses the connection pays for it")
            ofParty[lane.holder] += 1
        }
        var ofUser = [Int](repeating: 0, count: queue.users.count)
        for party in queue.parties.indices { ofUser[queue.parties[party].user] += ofParty[party] }
        #expect(queue.parties.map(\.connections) == ofParty, comment)
        #expect(queue.users.map(\.connections) == ofUser, comment)
        #expect(queue.connections == ofParty.reduce(0, +), comment)
    }

    // MARK: Who pays for an HTTP/2 connection

    @Test func b8ASharedConnectionIsPaidByAClientThatUsesIt() {
        var run = Run(connections: 100, leavesRoom: true)
        let lane = FairnessTests().multiplexed(&run, firstOf: 1)
        // More clients than are kept when nothing of theirs is left.
        for client in 2..<30 { run.enqueue(1, of: client, user: UInt32(client), in: lane) }
        run.admit()
        run.finishFirst()
        expectBalance(run.queue)
        // Numbers of accounts that are free are used again.
        let other = run.queue.addLane(mayMultiplex: false, connections: 6)
        run.enqueue(1, of: 100, user: 100, in: other)
        run.admit()
        for _ in 0..<29 {
            run.finishFirst()
            expectBalance(run.queue)
        }
        #expect(run.active.isEmpty)
        #expect(run.queue.parties.allSatisfy { $0.connections == 0 })
        #expect(run.queue.users.allSatisfy { $0.connections == 0 })
    }

    /// Random events of clients that come and go; after each, every account is what a slow count finds.
    @Test(arguments: 0..<8) func b8AccountsBalanceWhateverHappens(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var run = Run(connections: 30, leavesRoom: true)
        let lanes = (0..<5).map { run.queue.addLane(mayMultiplex: $0 < 3, connections: 12, perClient: 2) }
        var heldUp: [Element] = []
        for number in 0..<2_000 {
            let lane = lanes.randomElement(using: &random) ?? 0
            let client = Int.random(in: 0..<200, using: &random)
            switch Int.random(in: 0..<9, using: &random) {
            case 0, 1, 2: run.enqueue(1, of: client, user: UInt32(client % 9), in: lane, from: number)
            case 3:
                let waiting = run.places.keys.filter { !run.active.contains($0) && !heldUp.contains($0) }
                if let element = waiting.min(by: { $0.number < $1.number }) {
                    if let place = run.places.removeValue(forKey: element) { run.queue.withdraw(place) }
                }
            case 4, 5: run.finishFirst()
            case 6:
                let element = run.active.randomElement(using: &random)
                if let element, let place = run.places[element], run.queue.holdUp(place) {
                    run.active.removeAll { $0 == element }
                    heldUp.append(element)
                }
            case 7:
                if let element = heldUp.popLast(), let place = run.places[element] {
                    run.queue.goOn(place)
                    run.active.append(element)
                }
            default: if run.queue.speech(of: lane) == .probing { run.queue.learn(isHTTP2: lane < 2, in: lane) }
            }
            run.admit()
            expectBalance(run.queue, "event \(number)")
        }
        for element in heldUp { if let place = run.places[element] { run.queue.goOn(place) } }
        run.active += heldUp
        for _ in 0..<10_000 where !run.active.isEmpty {
            run.finishFirst()
            for lane in lanes where run.queue.speech(of: lane) == .probing { run.queue.learn(isHTTP2: true, in: lane) }
            run.admit()
        }
        expectBalance(run.queue)
        #expect(run.places.isEmpty, "all were served")
        #expect(run.queue.connections == 0)
        #expect(lanes.allSatisfy { run.queue.lanes[$0].flows.count <= 16 })
    }

    // MARK: Who waits for a connection

    /// A client that has its part of all connections, and wants to go to an origin to which there is none.
    func parked(_ run: inout Run, isCold: Bool, count: Int = 1) -> (lane: Queue.Lane, plain: Queue.Lane) {
        let lane = run.queue.addLane(mayMultiplex: true, connections: 6)
        if !isCold {
            run.enqueue(1, of: 9, user: 9, in: lane)
            run.admit()
            run.queue.learn(isHTTP2: true, in: lane)
            run.finishFirst()
        }
        let plain = run.queue.addLane(mayMultiplex: false, connections: 6)
        run.enqueue(4, of: 1, in: plain)
        run.admit()
        run.enqueue(count, of: 1, in: lane, from: 100)
        run.admit()
        #expect(run.queue.active(in: lane) == 0)
        return (lane, plain)
    }

    @Test(arguments: [true, false]) func b8WhoWaitsForAConnectionUsesTheOneThatAnotherMakes(isCold: Bool) {
        var run = Run(connections: 8, leavesRoom: true)
        let (lane, _) = parked(&run, isCold: isCold)
        run.enqueue(1, of: 2, user: 2, in: lane)
        run.admit()
        if isCold { run.queue.learn(isHTTP2: true, in: lane) }
        run.admit()
        #expect(run.active.contains(Element(client: 1, number: 100)))
        #expect(run.queue.waiting(in: lane) == 0)
        while !run.active.isEmpty {
            run.finishFirst()
            run.admit()
        }
        #expect(run.served.count == (isCold ? 6 : 7), "each once")
    }

    @Test func b8WhoWaitsForAConnectionUsesTheOneThatGoesOn() {
        var run = Run(connections: 8, leavesRoom: true)
        let lane = FairnessTests().multiplexed(&run, firstOf: 2)
        guard let place = run.places[Element(client: 2, number: 0)] else { return }
        let isHeldUp = run.queue.holdUp(place)
        #expect(isHeldUp)
        let plain = run.queue.addLane(mayMultiplex: false, connections: 6)
        run.enqueue(4, of: 1, in: plain)
        run.admit()
        run.enqueue(1, of: 1, in: lane, from: 100)
        run.admit()
        #expect(run.queue.waiting(in: lane) == 1)
        run.queue.goOn(place)
        run.admit()
        #expect(run.queue.waiting(in: lane) == 0)
    }

    @Test func b8AConnectionThatBecomesFreeGivesNoMoreStreams() {
        var run = Run(connections: 8, leavesRoom: true)
        let (lane, _) = parked(&run, isCold: false, count: 100)
        for client in 2..<50 { run.enqueue(100, of: client, in: lane) }
        run.admit()
        let active = run.queue.active(in: lane)
        #expect(active < 100)
        // One to the other host.
        run.finishFirst()
        run.admit()
        #expect(run.queue.active(in: lane) == active)
    }

    @Test func b8WhatIsUrgentDoesNotWaitWithWhatIsNot() {
        var run = Run(connections: 1)
        let busy = run.queue.addLane(mayMultiplex: false, connections: 1)
        run.enqueue(1, of: 0, in: busy)
        run.admit()
        let lanes = (0..<3).map { _ in run.queue.addLane(mayMultiplex: false, connections: 1) }
        // A client's unimportant transfer waits for a connection, and those of others that are not.
        run.enqueue(1, of: 1, in: lanes[0], priority: .low, from: 10)
        run.enqueue(5, of: 2, in: lanes[1], from: 20)
        run.admit()
        run.enqueue(1, of: 1, in: lanes[0], priority: .high, from: 11)
        run.enqueue(1, of: 3, in: lanes[2], priority: .low, from: 30)
        run.admit()
        if let place = run.places[Element(client: 3, number: 30)] {
            run.places[Element(client: 3, number: 30)] = run.queue.move(place, to: .high)
        }
        run.serve(9)
        #expect(run.served.dropFirst().prefix(2).map(\.number) == [11, 30])
        while !run.active.isEmpty { run.finishFirst() }
        #expect(run.queue.connections == 0)
    }

    @Test func b8FlowsThatChangeTheirPriorityWhileTheyWaitLeaveNothingBehind() {
        var run = Run(connections: 1)
        let busy = run.queue.addLane(mayMultiplex: false, connections: 1)
        run.enqueue(1, of: 0, in: busy)
        run.admit()
        let lane = run.queue.addLane(mayMultiplex: false, connections: 1)
        for client in 1...20 { run.enqueue(1, of: client, in: lane, priority: .low) }
        run.admit()
        for turn in 0..<2_000 {
            let element = Element(client: turn % 20 + 1, number: 0)
            guard let place = run.places[element] else { continue }
            run.places[element] = run.queue.move(place, to: [.high, .normal, .low][turn % 3])
            run.admit()
        }
        #expect(run.queue.parked.count <= 60)
        run.serve(21)
        #expect(run.served.count == 21 && run.places.count <= 1)
        while !run.active.isEmpty { run.finishFirst() }
        let isGone = run.queue.removeLane(lane)
        #expect(isGone)
        #expect(run.queue.connections == 0)
    }

    // MARK: Room

    @Test func b8ClientsThatGiveUpAtABusyOriginLeaveNothingBehind() {
        var run = Run()
        let lane = run.queue.addLane(mayMultiplex: false, connections: 1)
        run.enqueue(1, of: 0, in: lane)
        run.admit()
        for client in 1...5_000 {
            let place = run.queue.enqueue(
                Element(client: client, number: 0), in: lane, share: TransferShare(client: client))
            if let place { run.queue.withdraw(place) }
        }
        #expect(run.queue.flows.count < 200)
        #expect(run.queue.lanes[lane].ring.count < 200)
        run.finishFirst()
        run.admit()
        #expect(run.queue.lanes[lane].flows.count <= 16)
        #expect(run.queue.partyOfShare.count <= 16)
    }

    @Test func b8ClientsThatGiveUpWithoutAConnectionLeaveNothingBehind() {
        var run = Run(connections: 1)
        let busy = run.queue.addLane(mayMultiplex: false, connections: 1)
        run.enqueue(1, of: 0, in: busy)
        run.admit()
        let lane = run.queue.addLane(mayMultiplex: false, connections: 1)
        for client in 1...5_000 {
            let place = run.queue.enqueue(
                Element(client: client, number: 0), in: lane, share: TransferShare(client: client))
            run.admit()
            if let place { run.queue.withdraw(place) }
        }
        #expect(run.queue.flows.count < 200)
        #expect(run.queue.parked.count < 200)
        #expect(run.queue.partyOfShare.count <= 17)
        run.finishFirst()
        run.admit()
        let isGone = run.queue.removeLane(lane)
        #expect(isGone)
        #expect(run.queue.partyOfShare.count <= 1)
    }

    @Test func b8PlacesGivenUpInTheMiddleAreFree() {
        var queue = Queue(limits: .init(waiting: 20))
        let lane = queue.addLane(mayMultiplex: false, connections: 1)
        func enqueue(_ number: Int) -> Queue.Place? { queue.enqueue(Element(client: 0, number: number), in: lane) }
        _ = enqueue(0)
        let first = queue.next()
        #expect(first != nil)
        var last = enqueue(1)
        for number in 2..<10_000 {
            let next = enqueue(number)
            #expect(next != nil)
            if number > 2, let last { queue.withdraw(last) }
            last = next
            #expect(queue.waiting(in: lane) <= 3)
            #expect(queue.flows.allSatisfy { $0.lines.allSatisfy { $0.extent < 200 } })
        }
    }
    @Test func b8AChangeOfPriorityLosesNoPlaceInAFullQueue() {
        var queue = Queue(limits: .init(waiting: 3))
        let lane = queue.addLane(mayMultiplex: false, connections: 1)
        var places: [Queue.Place] = []
        for number in 0..<4 {
            let place = queue.enqueue(Element(client: 0, number: number), in: lane)
            if let place { places.append(place) }
            if number == 0 { _ = queue.next() }
        }
        #expect(places.count == 4)
        let refused = queue.enqueue(Element(client: 0, number: 4), in: lane)
        #expect(refused == nil)
        // From the middle, there and back, and one that does not wait any more.
        places[2] = queue.move(places[2], to: .high)
        places[2] = queue.move(places[2], to: .low)
        let started = queue.move(places[0], to: .high)
        #expect(started.rank == places[0].rank)
        #expect(queue.waiting == 3)
        var served: [Int] = []
        while queue.active(in: lane) > 0 {
            queue.finish(places[served.last ?? 0])
            if let next = queue.next() { served.append(next.element.number) }
        }
        #expect(served == [1, 3, 2])
    }
}
