import CarpoolSystem
import Testing

@testable import CarpoolCurl

/// The speed of a download, at times that the tests choose.
struct CurlPaceTests {
    private static func time(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: UInt64(milliseconds) * 1_000_000)
    }

    private static func pace(_ words: [String], at milliseconds: Int = 0) throws -> CurlPace {
        let response = try CurlLine.read(words + ["u"]).invocation.operations[0].response
        return CurlPace(response, at: time(milliseconds))
    }

    @Test(arguments: [[], ["--limit-rate", "0"]])
    func withoutLimitsNothingIsWaitedFor(_ words: [String]) throws {
        var pace = try Self.pace(words)
        pace.take(1 << 40)
        #expect(!pace.isLimited && !pace.isWaiting(at: Self.time(0)) && pace.deadline(at: Self.time(0)) == nil)
        #expect(pace.pieceBytes == .max && pace.bytes == 1 << 40)
        try pace.check(at: Self.time(1_000_000))
    }

    @Test func aLimitLetsAsManyBytesThroughAsTheTimeAllows() throws {
        var pace = try Self.pace(["--limit-rate", "1000"], at: 500)
        #expect(pace.isLimited && pace.pieceBytes == 125)
        #expect(!pace.isWaiting(at: Self.time(500)))
        pace.take(250)
        #expect(pace.isWaiting(at: Self.time(749)) && pace.deadline(at: Self.time(749)) == Self.time(750))
        #expect(!pace.isWaiting(at: Self.time(750)) && pace.deadline(at: Self.time(750)) == nil)
        pace.begin(at: Self.time(800))
        #expect(pace.bytes == 0 && !pace.isWaiting(at: Self.time(800)))
    }

    @Test func piecesHaveAtLeastAByte() throws {
        #expect(try Self.pace(["--limit-rate", "1"]).pieceBytes == 1)
    }

    @Test func theLargestLimitDoesNotOverflow() throws {
        var pace = try Self.pace(["--limit-rate", "9223372036854775807"])
        pace.take(.max)
        #expect(!pace.isWaiting(at: Self.time(0)))
    }

    /// The milliseconds of the check that failed, and the message; a byte is received each second.
    private static func failure(_ words: [String], bytesPerSecond: Int = 1) throws -> (Int, String)? {
        var pace = try pace(words)
        for second in 1...100 {
            pace.take(bytesPerSecond)
            #expect(pace.deadline(at: time(second * 1_000 - 1)) == time(second * 1_000))
            do throws(CurlError) { try pace.check(at: time(second * 1_000)) } catch {
                #expect(error.exitCode == 28)
                return (second, error.message)
            }
        }
        return nil
    }

    @Test(
        "A transfer that is too slow for too long fails",
        arguments: [
            (["-Y", "2", "-y", "3"], 4, 2, 3), (["-Y", "2"], 31, 2, 30), (["-Y", "2", "-y", "0"], 1, 2, 0),
        ])
    func tooSlow(_ words: [String], _ second: Int, _ bytes: Int, _ seconds: Int) throws {
        let failure = try #require(try Self.failure(words))
        #expect(failure.0 == second)
        #expect(
            failure.1 == "Operation too slow. Less than \(bytes) bytes/sec transferred the last \(seconds) seconds")
    }

    @Test(arguments: [["-Y", "1", "-y", "2"], ["-y", "2"], ["-Y", "0", "-y", "2"]])
    func fastEnough(_ words: [String]) throws {
        #expect(try Self.failure(words) == nil)
    }

    @Test func aFastSecondCountsFromTheBeginning() throws {
        var pace = try Self.pace(["-Y", "10", "-y", "2"])
        for (second, count) in [0, 0, 100, 0, 0].enumerated() {
            pace.take(count)
            try pace.check(at: Self.time((second + 1) * 1_000))
        }
        #expect(throws: CurlError.self) { try pace.check(at: Self.time(6_000)) }
    }

    @Test func theSpeedIsLookedAtOnceASecond() throws {
        var pace = try Self.pace(["-Y", "10", "-y", "0"])
        try pace.check(at: Self.time(999))
        #expect(throws: CurlError.self) { try pace.check(at: Self.time(1_000)) }
    }
}
