import Testing

@testable import CarpoolHTTP

/// B8: the accounts by which connections are divided, and the room that flows without transfers take.
struct AccountFairnessTests {
    typealias Queue = FairnessTests.Queue
    typealias Element = FairnessTests.Element

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
