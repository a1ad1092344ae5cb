import CarpoolJSON
import CarpoolRPC
import CarpoolSystem
import Testing

@testable import CarpoolServer

struct CallSequenceTests {
    private final class Journal {
        var lines: [String] = []
    }

    private let sequence = CallSequence()
    private let journal = Journal()

    private func id(_ number: Int) throws -> RPCID { try #require(RPCID(JSON.parse(Array("\(number)".utf8)))) }

    /// Adds a follower that ends at once if it is skipped.
    private func add(_ number: Int, after predecessor: Int) throws {
        let (own, sequence, journal) = (try id(number), sequence, journal)
        let follower = CallSequence.Follower {
            journal.lines.append("proceed \(number)")
        } skip: {
            journal.lines.append("skip \(number)")
            sequence.callDidEnd(own)
        }
        sequence.add(follower, after: try id(predecessor))
    }

    private func end(_ number: Int, hasSucceeded: Bool) throws {
        sequence.note(hasSucceeded, of: try id(number))
        sequence.callDidEnd(try id(number))
    }

    @Test func aFollowerProceedsOnceAfterASuccess() throws {
        try add(2, after: 1)
        try add(3, after: 2)
        try end(1, hasSucceeded: true)
        #expect(journal.lines == ["proceed 2"])
        try end(1, hasSucceeded: true)
        #expect(journal.lines == ["proceed 2"])
        try end(2, hasSucceeded: true)
        #expect(journal.lines == ["proceed 2", "proceed 3"])
        #expect(sequence.hasSucceeded(try id(2)))
        #expect(try !sequence.hasSucceeded(id(1)))
    }

    @Test("A failure skips all that follow one another, without a recursion", arguments: [1, 100_000])
    func failure(_ count: Int) throws {
        for number in 0..<count { try add(number + 1, after: number) }
        try end(0, hasSucceeded: false)
        #expect(journal.lines == (1...count).map { "skip \($0)" })
    }

    @Test func anIDThatIsUsedAgainCountsForItsLastCall() throws {
        try end(1, hasSucceeded: true)
        try end(1, hasSucceeded: false)
        #expect(try !sequence.hasSucceeded(id(1)))
    }

    @Test func anEarlierSuccessIsNotThatOfTheCallThatIsFollowed() throws {
        try end(1, hasSucceeded: true)
        try add(2, after: 1)
        sequence.callDidEnd(try id(1))
        #expect(journal.lines == ["skip 2"])
    }

    @Test func manyFollowersRunInSlices() throws {
        var slices: [any SlicedWork] = []
        sequence.runInSlices = { slices.append($0) }
        for number in 2...100 { try add(number, after: 1) }
        try end(1, hasSucceeded: true)
        #expect(journal.lines == ["proceed 2"])
        try add(101, after: 2)
        try end(2, hasSucceeded: false)
        #expect(journal.lines == ["proceed 2"])
        let work = try #require(slices.first)
        while work.runSlice() {}
        #expect(slices.count == 1)
        #expect(Set(journal.lines) == Set((2...100).map { "proceed \($0)" } + ["skip 101"]))
        try add(103, after: 102)
        try end(102, hasSucceeded: true)
        #expect(journal.lines.last == "proceed 103")
    }

    @Test func nothingIsCalledInTheSlicesOfAClosedConnection() throws {
        var slices: [any SlicedWork] = []
        sequence.runInSlices = { slices.append($0) }
        for number in 2...4 { try add(number, after: 1) }
        try end(1, hasSucceeded: true)
        sequence.removeAll()
        #expect(try !#require(slices.first).runSlice())
        #expect(journal.lines == ["proceed 2"])
    }

    @Test func nothingHappensAfterTheEndOfTheConnection() throws {
        try add(2, after: 1)
        sequence.removeAll()
        try end(1, hasSucceeded: true)
        #expect(journal.lines == [])
    }
}
