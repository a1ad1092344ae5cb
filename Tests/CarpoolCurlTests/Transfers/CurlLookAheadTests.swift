import CarpoolSystem
import Testing

@testable import CarpoolCurl

struct CurlLookAheadTests {
    private static func suits(_ arguments: [String], headFiles: Set<String> = []) throws -> Bool {
        var line = CurlCommandLine(Environment([:]))
        try CurlArguments.read(["-q"] + arguments + ["http://host/"], into: &line)
        var plan = CurlPlan(try line.invocation.operations.map { try CurlPreparedOperation($0, Environment([:])) })
        return CurlLookAhead.suits(try #require(try plan.next()), headFiles: headFiles)
    }

    @Test(
        "Requests that depend on nothing are sent ahead",
        arguments: [[], ["-I"], ["-H", "A: b"], ["-L"], ["-u", "a:b"], ["-b", "a=b"], ["-m", "3"], ["-r", "0-1"]])
    func suitable(_ arguments: [String]) throws { #expect(try Self.suits(arguments)) }

    @Test(
        "Bodies, other methods, and what an earlier transfer may change are not",
        arguments: [
            ["-d", "a"], ["-F", "a=b"], ["-T", "/dev/null"], ["-X", "DELETE"], ["-X", "POST"], ["-C", "-"],
            ["-C", "3"], ["-c", "/dev/null"], ["-b", "/dev/null"], ["--etag-save", "/dev/null"],
            ["--etag-compare", "/dev/null"], ["-z", "2026-01-01"],
        ])
    func unsuitable(_ arguments: [String]) throws { #expect(try !Self.suits(arguments)) }

    @Test("A file of -D has to be open: one that cannot be opened ends the command line")
    func headFiles() throws {
        #expect(try Self.suits(["-D", "-"]))
        #expect(try !Self.suits(["-D", "heads"]))
        #expect(try !Self.suits(["-D", "heads"], headFiles: ["others"]))
        #expect(try Self.suits(["-D", "heads"], headFiles: ["heads"]))
    }

    @Test func afterManyCallsInVainItEnds() {
        var lookAhead = CurlLookAhead()
        var count = 0
        while lookAhead.isOn, count < 1_000 {
            lookAhead.didSkip()
            count += 1
        }
        #expect(count == 64)
    }
}
