internal import CarpoolSystem

/// The speed of a download: what `--limit-rate` allows, and what `-y` and `-Y` require.
struct CurlPace {
    private let bytesPerSecond: Int64?
    private let slowSeconds: Int?
    private let slowBytesPerSecond: Int
    private var began: MonotonicTime
    /// The bytes of the present body.
    private(set) var bytes: Int64 = 0
    /// Since when it is too slow.
    private var slowSince: MonotonicTime?
    private var sampled: MonotonicTime
    private var sampledBytes: Int64 = 0

    /// The limits of curl if only one of `-y` and `-Y` is given.
    private static let defaultSlowSeconds = 30
    private static let defaultSlowBytesPerSecond = 1

    init(_ options: CurlResponseOptions, at now: MonotonicTime = .read()) {
        (began, sampled) = (now, now)
        bytesPerSecond = options.bytesPerSecond.flatMap { $0 > 0 ? $0 : nil }
        let isLimited = options.slowSeconds != nil || options.slowBytesPerSecond != nil
        slowSeconds = isLimited ? options.slowSeconds ?? CurlPace.defaultSlowSeconds : nil
        slowBytesPerSecond = options.slowBytesPerSecond ?? CurlPace.defaultSlowBytesPerSecond
    }

    /// Whether bodies have to come through the pipe.
    var isLimited: Bool { bytesPerSecond != nil }

    /// Begins with a new exchange.
    mutating func begin(at now: MonotonicTime = .read()) {
        began = now
        bytes = 0
        slowSince = nil
        sampled = began
        sampledBytes = 0
    }

    /// Counts bytes.
    mutating func take(_ count: Int) { bytes += Int64(count) }

    /// The most bytes to read at once.
    var pieceBytes: Int { bytesPerSecond.map { Int(clamping: max(1, $0 / 8)) } ?? .max }

    /// When the limit allows to read more; `nil` at once.
    private var allowedAt: MonotonicTime? {
        guard let bytesPerSecond else { return nil }
        let milliseconds = bytes.multipliedReportingOverflow(by: 1_000)
        guard !milliseconds.overflow else { return nil }
        return began.advanced(milliseconds: Int(clamping: milliseconds.partialValue / bytesPerSecond))
    }

    /// Whether the limit is reached.
    var isWaiting: Bool { isWaiting(at: .read()) }

    func isWaiting(at now: MonotonicTime) -> Bool { allowedAt.map { $0 > now } ?? false }

    /// When the speed has to be looked at again.
    var deadline: MonotonicTime? { deadline(at: .read()) }

    func deadline(at now: MonotonicTime) -> MonotonicTime? {
        let allowed = isWaiting(at: now) ? allowedAt : nil
        guard slowSeconds != nil else { return allowed }
        let next = sampled.advanced(milliseconds: 1_000)
        return allowed.map { min($0, next) } ?? next
    }

    /// Fails if the transfer is too slow for too long.
    mutating func check(at now: MonotonicTime = .read()) throws(CurlError) {
        guard let slowSeconds else { return }
        let microseconds = now.microseconds(since: sampled)
        guard microseconds >= 1_000_000 else { return }
        let speed = (bytes - sampledBytes) * 1_000_000 / Int64(microseconds)
        (sampled, sampledBytes) = (now, bytes)
        guard speed < Int64(slowBytesPerSecond) else { return slowSince = nil }
        let since = slowSince ?? now
        slowSince = since
        guard now.microseconds(since: since) >= slowSeconds * 1_000_000 else { return }
        throw CurlError(
            exitCode: CurlExitCode.timedOut,
            message: "Operation too slow. Less than \(slowBytesPerSecond) bytes/sec transferred the last "
                + "\(slowSeconds) seconds")
    }
}
