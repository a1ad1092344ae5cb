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

    /// The time of the check that fails, and the message, if so many bytes come in each second.
    private static func failure(_ words: [String], _ bytes: [Int] = [], at start: Int = 0) throws -> (Int, String)? {
        var pace = try pace(words, at: start)
        for second in 1...100 {
            pace.take(second <= bytes.count ? bytes[second - 1] : 0)
            #expect(pace.deadline(at: time(start)) ?? time(start + second * 1_000) == time(start + second * 1_000))
            do throws(CurlError) { try pace.check(at: time(start + second * 1_000)) } catch {
                #expect(error.exitCode == 28)
                return (second, error.message)
            }
        }
        return nil
    }

    // The times of curl 8.14.1.
    @Test(
        "A transfer that is too slow for too long fails",
        arguments: [
            (["-Y", "1", "-y", "2"], 2, 1, 2), (["-y", "1"], 1, 1, 1), (["-Y", "2"], 30, 2, 30),
            (["-Y", "0", "-y", "2"], 2, 1, 2), (["-y", "0", "-Y", "2"], 30, 2, 30),
        ])
    func tooSlow(_ words: [String], _ second: Int, _ bytes: Int, _ seconds: Int) throws {
        let failure = try #require(try Self.failure(words))
        #expect(failure.0 == second)
        #expect(
            failure.1 == "Operation too slow. Less than \(bytes) bytes/sec transferred the last \(seconds) seconds")
    }

    @Test(arguments: [["-Y", "2", "-y", "0"], ["-y", "2", "-Y", "0"]])
    func zeroIsNoLimit(_ words: [String]) throws {
        #expect(try Self.failure(words) == nil)
    }

    @Test(arguments: [["-Y", "1", "-y", "2"], ["-y", "2"]])
    func fastEnough(_ words: [String]) throws {
        #expect(try Self.failure(words, [Int](repeating: 1, count: 100)) == nil)
    }

    @Test("The speed is that of the last five seconds, and the time counts from when it was too slow")
    func theSpeedOfTheLastSeconds() throws {
        #expect(try Self.failure(["-Y", "1000", "-y", "2"], [100])?.0 == 2)
        #expect(try Self.failure(["-Y", "1000", "-y", "2"], [100_000])?.0 == 8)
        #expect(try Self.failure(["-Y", "1000", "-y", "3"], [10_000, 10_000, 10_000])?.0 == 11)
    }

    @Test("The speed is computed once in each second of the clock")
    func theClock() throws {
        var pace = try Self.pace(["-Y", "10", "-y", "1"], at: 500)
        pace.take(1_000)
        try pace.check(at: Self.time(999))
        #expect(pace.deadline(at: Self.time(999)) == Self.time(1_999))
        try pace.check(at: Self.time(1_000))
        try pace.check(at: Self.time(1_999))
        var silent = try Self.pace(["-Y", "10", "-y", "1"], at: 500)
        try silent.check(at: Self.time(1_499))
        #expect(throws: CurlError.self) { try silent.check(at: Self.time(1_500)) }
    }

    @Test("Bytes of the request count")
    func sentBytes() throws {
        var pace = try Self.pace(["-Y", "1000", "-y", "1"])
        pace.begin(sending: 50_000, at: Self.time(0))
        for second in 1...6 { try pace.check(at: Self.time(second * 1_000)) }
        #expect(throws: CurlError.self) { try pace.check(at: Self.time(7_000)) }
    }

    @Test("Nothing is too slow while it is not known how much of a body was sent")
    func sending() throws {
        var pace = try Self.pace(["-Y", "1000", "-y", "2"])
        pace.begin(sending: 1_000_000, at: Self.time(0))
        for second in 1...60 { try pace.check(isSending: true, at: Self.time(second * 1_000)) }
        try pace.check(at: Self.time(61_000))
        #expect(throws: CurlError.self) { try pace.check(at: Self.time(62_000)) }
    }

    @Test("Without a byte a transfer is too slow at the latest after five seconds and the time")
    func silence() throws {
        #expect(try Self.pace(["-y", "3"]).slowness?.longestSilenceMilliseconds == 8_000)
        #expect(try Self.pace(["-y", "9223372036854775807"]).slowness?.longestSilenceMilliseconds == .max)
        #expect(try Self.pace([]).slowness == nil)
    }
}
