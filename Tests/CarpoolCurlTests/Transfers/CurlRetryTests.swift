import CarpoolExchange
import Testing

@testable import CarpoolCurl

/// The expectations are what curl 8.14.1 does.
struct CurlRetryTests {
    private static func options(_ count: Int, _ change: (inout RetryOptions) -> Void = { _ in }) -> RetryOptions {
        var options = RetryOptions()
        options.count = count
        change(&options)
        return options
    }

    private static func decide(
        _ attempt: CurlRetry.Attempt, _ change: (inout RetryOptions) -> Void = { _ in }
    ) -> CurlRetry.Decision {
        var retry = CurlRetry(options(1, change))
        return retry.decide(attempt)
    }

    @Test("Statuses that are repeated", arguments: [408, 429, 500, 502, 503, 504, 522, 524])
    func transient(_ status: Int) {
        let expected = CurlRetry.Decision.wait(RetryWait(": HTTP error", milliseconds: 1_000, left: 1))
        #expect(Self.decide(.init(status: status)) == expected)
        #expect(Self.decide(.init(exitCode: CurlExitCode.httpError, status: status)) == expected)
        #expect(Self.decide(.init(exitCode: CurlExitCode.writeError, status: status)) == .stop)
    }

    @Test("Statuses that are not", arguments: [0, 200, 301, 400, 401, 404, 409, 425, 501, 505, 520, 523])
    func permanent(_ status: Int) {
        #expect(Self.decide(.init(status: status)) == .stop)
        #expect(Self.decide(.init(status: status)) { $0.retriesAllErrors = true } == .stop)
    }

    @Test(
        "Failures that are repeated",
        arguments: [CurlExitCode.timedOut, CurlExitCode.unresolvedHost, CurlExitCode.unresolvedProxy])
    func failures(_ code: Int32) {
        #expect(Self.decide(.init(exitCode: code)) == .wait(RetryWait(": timeout", milliseconds: 1_000, left: 1)))
    }

    @Test func aRefusedConnectionNeedsTheOption() {
        let refused = CurlRetry.Attempt(exitCode: CurlExitCode.noConnection, isRefused: true)
        #expect(Self.decide(refused) == .stop)
        let change: (inout RetryOptions) -> Void = { $0.retriesRefusedConnections = true }
        #expect(Self.decide(refused, change) == .wait(RetryWait(": connection refused", milliseconds: 1_000, left: 1)))
        #expect(Self.decide(.init(exitCode: CurlExitCode.noConnection), change) == .stop)
        let all = Self.decide(refused) { $0.retriesAllErrors = true }
        #expect(all == .wait(RetryWait("(retrying all errors)", milliseconds: 1_000, left: 1)))
    }

    @Test func theWaitDoublesUpToTenMinutes() {
        var retry = CurlRetry(Self.options(12))
        let waits = (0..<13).map { _ in
            if case .wait(let wait) = retry.decide(.init(status: 503)) { wait.milliseconds / 1_000 } else { -1 }
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600, -1])
        #expect(retry.left == 0)
    }

    @Test func aDelayStaysAsItIs() {
        var retry = CurlRetry(Self.options(2) { $0.delayMilliseconds = 3_000 })
        for left in [2, 1] {
            let wait = RetryWait(": HTTP error", milliseconds: 3_000, left: left)
            #expect(retry.decide(.init(status: 503)) == .wait(wait))
        }
        #expect(retry.decide(.init(status: 503)) == .stop)
    }

    @Test func theServerMayAskForATime() {
        let attempt = CurlRetry.Attempt(status: 429, retryAfterSeconds: 7, elapsedMilliseconds: 2_000)
        #expect(Self.decide(attempt) == .wait(RetryWait(": HTTP error", milliseconds: 7_000, left: 1)))
        #expect(
            Self.decide(attempt) { $0.maximumMilliseconds = 9_000 }
                == .wait(RetryWait(": HTTP error", milliseconds: 7_000, left: 1)))
        #expect(Self.decide(attempt) { $0.maximumMilliseconds = 8_999 } == .tooLong)
        #expect(Self.decide(attempt) { $0.maximumMilliseconds = 2_000 } == .stop)
    }

    @Test func theWarningCountsWhatIsLeft() {
        #expect(
            RetryWait(": timeout", milliseconds: 1_000, left: 1).text
                == "Problem : timeout. Will retry in 1 second. 1 retry left.")
        #expect(
            RetryWait(": timeout", milliseconds: 2_000, left: 2).text
                == "Problem : timeout. Will retry in 2 seconds. 2 retries left.")
    }
}
