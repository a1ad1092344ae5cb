import CarpoolSystem
import Testing

@testable import CarpoolSession

/// Which steps of an upload are reported.
@Suite struct SendThrottleTests {
    private func at(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: 0).advanced(milliseconds: milliseconds)
    }

    private func step(_ sent: Int64, of total: Int64? = 100) -> UploadProgress {
        UploadProgress(sentBytes: sent, totalBytes: total)
    }

    @Test func theFirstTheLastAndTenASecond() {
        var throttle = SendThrottle()
        #expect(throttle.step(step(0), at: at(1_000)) == step(0))
        #expect(throttle.step(step(10), at: at(1_050)) == nil)
        #expect(throttle.step(step(20), at: at(1_100)) == step(20))
        #expect(throttle.step(step(30), at: at(1_110)) == nil)
        #expect(throttle.step(step(100), at: at(1_120)) == step(100))
        #expect(throttle.finish() == nil)
    }

    @Test func whatWasSentLastIsTold() {
        var throttle = SendThrottle()
        _ = throttle.step(step(0, of: nil), at: at(0))
        #expect(throttle.step(step(7, of: nil), at: at(1)) == nil)
        #expect(throttle.finish() == step(7, of: nil))
        #expect(throttle.finish() == nil)
    }

    @Test func neverGoesBack() {
        var throttle = SendThrottle()
        _ = throttle.step(step(50), at: at(0))
        #expect(throttle.step(step(0), at: at(1_000)) == nil)
        #expect(throttle.step(step(60), at: at(2_000)) == step(60))
    }
}
