internal import CarpoolSystem

/// The speed of a download: what `--limit-rate` allows, and what `-y` and `-Y` require.
struct CurlPace {
    private let bytesPerSecond: Int64?
    private(set) var slowness: CurlSlowness?
    private var began: MonotonicTime
    /// The bytes of the present body.
    private(set) var bytes: Int64 = 0
    /// The bytes of the request's body.
    private var sentBytes: Int64 = 0

    init(_ options: CurlResponseOptions, at now: MonotonicTime = .read()) {
        began = now
        bytesPerSecond = options.bytesPerSecond.flatMap { $0 > 0 ? $0 : nil }
        slowness = CurlSlowness(options, at: now)
    }

    /// Whether bodies have to come through the pipe.
    var isLimited: Bool { bytesPerSecond != nil }

    /// Begins with a new exchange.
    /// - Parameter sentBytes: the length of the request's body.
    mutating func begin(sending sentBytes: Int64 = 0, at now: MonotonicTime = .read()) {
        began = now
        bytes = 0
        self.sentBytes = sentBytes
        slowness?.begin(at: now)
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
        guard let next = slowness?.deadline else { return allowed }
        return allowed.map { min($0, next) } ?? next
    }

    /// Fails if the transfer is too slow for too long.
    /// - Parameter isSending: whether a body is being sent of which it is not known how much was sent. Then nothing is
    ///   too slow.
    mutating func check(isSending: Bool = false, at now: MonotonicTime = .read()) throws(CurlError) {
        guard !isSending else {
            sentBytes = 0
            slowness?.begin(at: now)
            return
        }
        try slowness?.check(bytes &+ sentBytes, at: now)
    }
}
