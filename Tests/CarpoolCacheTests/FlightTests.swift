import CarpoolHTTP
import CarpoolSystem
import Testing

@testable import CarpoolCache

/// One fetch for identical requests (4.7).
struct FlightTests {
    @Test("HX-03: those that wait get head and body of the first, each whole")
    func identicalRequestsShareAResponse() throws {
        let stage = try CacheStage()
        let callers = try (0..<5).map { _ in try stage.get() }
        #expect(stage.origin.tasks.count == 1)
        try stage.task(1).head()
        try stage.task(1).body("hello ")
        stage.turns()
        try stage.task(1).body("world")
        try stage.task(1).end()
        stage.turns()
        #expect(callers.allSatisfy { $0.isWhole && $0.text == "hello world" && $0.heads.count == 1 })
        #expect(callers.map(\.outcome?.status) == [.miss] + Array(repeating: .collapsed, count: 4))
    }

    @Test("HX-03: one that comes while the body arrives reads it from its first byte")
    func latecomersGetTheWholeBody() throws {
        let stage = try CacheStage()
        let first = try stage.get()
        try stage.task(1).head()
        try stage.task(1).body("one ")
        let late = try stage.get()
        #expect(stage.origin.tasks.count == 1)
        try stage.task(1).body("two")
        try stage.task(1).end()
        stage.turns()
        #expect(first.text == "one two" && first.isWhole)
        #expect(late.text == "one two" && late.isWhole)
    }

    @Test("HX-03: what cannot be stored is not shared, and nobody waits for it again")
    func uncacheableResponsesFormNoQueue() throws {
        let stage = try CacheStage()
        let callers = try (0..<3).map { _ in try stage.get() }
        try stage.task(1).head(200, ["cache-control": "no-store"])
        stage.turns()
        #expect(stage.origin.tasks.count == 3)
        try stage.get()
        #expect(stage.origin.tasks.count == 4)
        for number in 2...3 { try stage.task(number).respond(200, ["cache-control": "no-store"], body: "x") }
        try stage.task(1).end()
        stage.turns()
        #expect(callers.allSatisfy { $0.isWhole })
    }

    @Test("HX-05: the first fails, the next one is sent; after three all go alone")
    func failingLeadersAreReplaced() throws {
        let stage = try CacheStage()
        let callers = try (0..<6).map { _ in try stage.get() }
        let failure = TransportError(.cannotConnectToHost, "refused")
        for number in 1...3 {
            #expect(stage.origin.tasks.count == number)
            try stage.task(number).end(failure)
            stage.turns()
        }
        #expect(stage.origin.tasks.count == 6)
        for number in 4...6 { try stage.task(number).respond(body: "ok") }
        stage.turns()
        #expect(callers.prefix(3).allSatisfy { $0.completion?.error?.code == .cannotConnectToHost })
        #expect(callers.suffix(3).allSatisfy { $0.isWhole && $0.text == "ok" })
    }

    @Test("HX-06: the first is cancelled; the transfer goes on for the others")
    func theTransferOutlivesItsLeader() throws {
        let stage = try CacheStage()
        let first = try stage.get()
        let second = try stage.get()
        first.task?.cancel()
        stage.turns()
        #expect(first.completion?.error?.code == .cancelled)
        #expect(try !stage.task(1).isCancelled)
        try stage.task(1).respond(body: "for the other")
        stage.turns()
        #expect(second.isWhole && second.text == "for the other")
        #expect(second.outcome?.status == .collapsed)
    }

    @Test("HX-06: all are cancelled, and so is the transfer")
    func nobodyWantsIt() throws {
        let stage = try CacheStage()
        let callers = try (0..<3).map { _ in try stage.get() }
        try stage.task(1).head()
        stage.turns()
        for caller in callers { caller.task?.cancel() }
        #expect(try stage.task(1).isCancelled)
        try stage.task(1).endCancelled()
        stage.turns()
        #expect(callers.allSatisfy { $0.completion?.error?.code == .cancelled })
        #expect(try stage.get().completion == nil)
        #expect(stage.origin.tasks.count == 2)
    }

    @Test("HX-07: the transfer has the highest priority of those that wait")
    func priorities() throws {
        let stage = try CacheStage()
        try stage.get().task?.setPriority(.low)
        #expect(try stage.task(1).priority == .low)
        let second = try stage.get()
        second.task?.setPriority(.high)
        #expect(try stage.task(1).priority == .high)
    }

    @Test("A body larger than what is stored reaches every reader whole, and the slowest holds the origin back")
    func largeBodies() throws {
        let stage = try CacheStage(memoryBytes: 1_048_576)
        let callers = try (0..<3).map { _ in try stage.get() }
        callers[1].answer = .pause
        try stage.task(1).head()
        stage.turns()
        var sent: [UInt8] = []
        var held = false
        let piece = [UInt8](repeating: 7, count: 16_384)
        for number in 0..<200 {
            var bytes = piece
            bytes[0] = UInt8(truncatingIfNeeded: number)
            var answer = try stage.task(1).body(bytes)
            if case .pause = answer {
                held = true
                callers[1].resume()
                stage.turns(60)
                #expect(try !stage.task(1).isPaused)
                answer = try stage.task(1).body(bytes)
            }
            guard case .accept = answer else { break }
            sent += bytes
            stage.turns(1)
        }
        try stage.task(1).end()
        stage.turns(60)
        #expect(held)
        #expect(callers.allSatisfy { $0.isWhole && $0.bytes == sent })
    }

    @Test("A response that is cut fails every reader, also one that reads slowly")
    func cutResponses() throws {
        let stage = try CacheStage()
        let callers = try (0..<3).map { _ in try stage.get() }
        callers[2].answer = .pause
        try stage.task(1).head()
        try stage.task(1).body("a part")
        stage.turns()
        try stage.task(1).end(TransportError(.networkConnectionLost, "cut"))
        stage.turns()
        #expect(callers[2].completion == nil)
        callers[2].resume()
        stage.turns()
        #expect(callers.allSatisfy { $0.text == "a part" && $0.completion?.error?.code == .networkConnectionLost })
        try stage.get()
        #expect(stage.origin.tasks.count == 2)
    }

    @Test("One reader after the other leaves; the last one gets all of the body")
    func theLastReader() throws {
        let stage = try CacheStage(memoryBytes: 1_048_576)
        let callers = try (0..<3).map { _ in try stage.get() }
        callers[2].answer = .pause
        try stage.task(1).head()
        stage.turns()
        var sent: [UInt8] = []
        for number in 0..<40 {
            let bytes = [UInt8](repeating: UInt8(number), count: 16_384)
            guard case .accept = try stage.task(1).body(bytes) else { break }
            sent += bytes
            stage.turns(1)
            if number == 20 { callers[0].task?.cancel() }
            if number == 30 { callers[1].task?.cancel() }
        }
        try stage.task(1).end()
        callers[2].resume()
        stage.turns(60)
        #expect(callers[2].isWhole)
        #expect(callers[2].bytes == sent)
    }

    @Test("HX-04: a wait ends, and the request goes alone")
    func waitsEnd() throws {
        let stage = try CacheStage()
        var settings = CacheStage.inMemory
        settings.coalesceWaitMilliseconds = 1
        try stage.get(settings: settings)
        let second = try stage.get(settings: settings)
        let deadline = ContinuousClock.now + .seconds(10)
        while stage.origin.tasks.count < 2, ContinuousClock.now < deadline { stage.turns(1) }
        try stage.task(2).respond(body: "alone")
        stage.turns()
        #expect(second.isWhole && second.text == "alone")
    }

    @Test("HX-04: a reader of another's response has its own idle timeout, and the others go on")
    func idleReaders() throws {
        let stage = try CacheStage()
        let first = try stage.get()
        let second = try stage.get(idle: 20)
        try stage.task(1).head()
        try stage.task(1).body("a")
        let deadline = ContinuousClock.now + .seconds(10)
        while !second.hasEnded, ContinuousClock.now < deadline { stage.turns(1) }
        #expect(second.completion?.error?.timeout == "idle")
        #expect(second.text == "a" && stage.origin.tasks.count == 1)
        try stage.task(1).body("b")
        try stage.task(1).end()
        stage.turns()
        #expect(first.isWhole && first.text == "ab")
    }

    @Test("HX-04: the first has its own timeout too, and the origin's task outlasts all that share its response")
    func idleLeaders() throws {
        let stage = try CacheStage()
        let first = try stage.get(idle: 20)
        try stage.task(1).head()
        try stage.task(1).body("a")
        let second = try stage.get(idle: 3_000_000)
        #expect(try stage.task(1).idleMilliseconds > 3_000_000)
        #expect(try stage.task(1).resourceEnd > stage.task(1).request.resourceEnd(startedAt: .read()))
        let deadline = ContinuousClock.now + .seconds(10)
        while !first.hasEnded, ContinuousClock.now < deadline { stage.turns(1) }
        #expect(first.completion?.error?.timeout == "idle")
        #expect(try !stage.task(1).isCancelled)
        try stage.task(1).body("b")
        try stage.task(1).end()
        stage.turns()
        #expect(second.isWhole && second.text == "ab" && stage.origin.tasks.count == 1)
    }

    @Test("HX-08: other stores, other users, other credentials and other methods are not shared")
    func whatIsNotShared() throws {
        let stage = try CacheStage()
        try stage.get()
        try stage.get(store: "other")
        try stage.get(user: 1_000)
        try stage.get("/", ["Authorization": "Bearer a"])
        try stage.get("/", ["Authorization": "Bearer b"])
        try stage.get(method: .head)
        #expect(stage.origin.tasks.count == 6)
    }
}
