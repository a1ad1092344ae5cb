import Testing

@testable import CarpoolHTTP

struct FIFOQueueTests {
    @Test func servesInOrder() {
        var line = FIFOQueue<Int>()
        for i in 0..<300 { _ = line.append(i) }
        for i in 0..<300 {
            let next = line.popFirst()
            #expect(next == i)
        }
        let result1 = line.popFirst()
        #expect(result1 == nil)
        #expect(line.isEmpty)
    }

    @Test func lettingGoFromTheMiddleKeepsTheOrder() {
        var line = FIFOQueue<Int>()
        let tickets = (0..<100).map { line.append($0) }
        for i in stride(from: 0, to: 100, by: 3) { line.remove(tickets[i]) }
        #expect(line.count == 66)
        var served: [Int] = []
        while let next = line.popFirst() { served.append(next) }
        #expect(served == (0..<100).filter { $0 % 3 != 0 })
    }

    @Test func aUsedTicketIsWorthNothing() {
        var line = FIFOQueue<Int>()
        let first = line.append(1)
        _ = line.append(2)
        let result2 = line.popFirst()
        #expect(result2 == 1)
        line.remove(first)
        line.remove(first + 100)
        #expect(line.count == 1)
        let result3 = line.popFirst()
        #expect(result3 == 2)
        line.remove(first)
        let result4 = line.append(3)
        #expect(result4 > first)
        let result5 = line.popFirst()
        #expect(result5 == 3)
    }

    @Test func comingAndGoingLeavesNothingBehind() {
        var line = FIFOQueue<Int>()
        _ = line.append(-1)
        for i in 0..<10_000 {
            let token = line.append(i)
            if i % 2 == 0 { line.remove(token) } else { #expect(line.popFirst() != nil) }
        }
        #expect(line.extent < 200)
    }

    @Test func leavingFromTheMiddleFreesMemory() {
        var line = FIFOQueue<Int>()
        let tickets = (0..<10_000).map { line.append($0) }
        for i in tickets.indices where i % 100 != 0 { line.remove(tickets[i]) }
        #expect(line.count == 100)
        #expect(line.extent <= 264)
        // The tickets of remaining elements are valid, the others are not.
        let (gone, present) = (line.remove(tickets[250]), line.remove(tickets[500]))
        #expect(gone == nil)
        #expect(present == 500)
        #expect(line.distance(to: tickets[300]) <= 264)
        let next = line.append(10_000)
        let last = line.remove(next)
        #expect(last == 10_000)
        line.removeAll { $0 < 5_000 }
        var served: [Int] = []
        while let next = line.popFirst() { served.append(next) }
        #expect(served == stride(from: 5_000, to: 10_000, by: 100).map { $0 })
    }

    @Test func isReadFromAnyTicketOn() {
        var line = FIFOQueue<Int>()
        let tickets = (0..<100).map { line.append($0) }
        for i in stride(from: 1, to: 100, by: 2) { line.remove(tickets[i]) }
        var read: [Int] = []
        line.read(after: tickets[41]) { token, element in
            #expect(token == tickets[element])
            read.append(element)
            return element < 50
        }
        #expect(read == [42, 44, 46, 48, 50])
        line.read(after: tickets[99]) { _, _ in
            Issue.record("there is nothing behind the last one")
            return true
        }
        var count = 0
        line.read(after: -1) { _, _ in
            count += 1
            return true
        }
        #expect(count == 50)
    }
}
