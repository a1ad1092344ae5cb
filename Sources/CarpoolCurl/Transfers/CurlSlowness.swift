internal import CarpoolSystem

/// What `-y` and `-Y` require: the speed of the last five seconds, as curl computes it, must not be below a limit for
/// too long. curl looks at the count of bytes once in each second of the clock.
struct CurlSlowness {
    let seconds: Int
    let bytesPerSecond: Int
    private var samples: [(at: MonotonicTime, bytes: Int64)] = []
    /// The speed of the last seconds in bytes a second.
    private var speed: Int64 = 0
    /// Since when it is too slow.
    private var slowSince: MonotonicTime?
    private var checked: MonotonicTime

    /// As many as curl keeps: five seconds lie between the first and the last one.
    private static let maximumSamples = 6

    /// The time after the last byte in which the transfer is too slow for too long at the latest.
    var longestSilenceMilliseconds: Int {
        let seconds = seconds.addingReportingOverflow(CurlSlowness.maximumSamples - 1)
        let milliseconds = seconds.partialValue.multipliedReportingOverflow(by: 1_000)
        return seconds.overflow || milliseconds.overflow ? .max : milliseconds.partialValue
    }

    /// Makes one from the options; `nil` if they limit nothing.
    init?(_ options: CurlResponseOptions, at now: MonotonicTime) {
        guard let seconds = options.slowSeconds, seconds > 0, let bytes = options.slowBytesPerSecond, bytes > 0 else {
            return nil
        }
        (self.seconds, bytesPerSecond, checked) = (seconds, bytes, now)
        begin(at: now)
    }

    /// When it has to be checked again.
    var deadline: MonotonicTime { checked.advanced(milliseconds: 1_000) }

    /// Begins with a new exchange, of which nothing has come.
    mutating func begin(at now: MonotonicTime) {
        samples = [(now, 0)]
        speed = 0
        slowSince = now
        checked = now
    }

    /// Fails if the transfer is too slow for too long.
    /// - Parameter bytes: how many were sent and received.
    mutating func check(_ bytes: Int64, at now: MonotonicTime) throws(CurlError) {
        checked = now
        if CurlSlowness.second(now) != samples.last.map({ CurlSlowness.second($0.at) }) { sample(bytes, at: now) }
        guard speed < Int64(bytesPerSecond) else { return slowSince = nil }
        let since = slowSince ?? now
        slowSince = since
        guard now.microseconds(since: since) / 1_000_000 >= seconds else { return }
        throw CurlError(
            exitCode: CurlExitCode.timedOut,
            message: CurlFailureMessage.tooSlow(bytesPerSecond: bytesPerSecond, seconds: seconds))
    }

    private static func second(_ time: MonotonicTime) -> UInt64 { time.nanoseconds / 1_000_000_000 }

    private mutating func sample(_ bytes: Int64, at now: MonotonicTime) {
        samples.append((now, bytes))
        if samples.count > CurlSlowness.maximumSamples { samples.removeFirst() }
        let milliseconds = max(1, now.microseconds(since: samples[0].at) / 1_000)
        let (product, isTooLarge) = (bytes - samples[0].bytes).multipliedReportingOverflow(by: 1_000)
        speed = isTooLarge ? .max : product / Int64(milliseconds)
    }
}
