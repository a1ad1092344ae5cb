internal import Glibc

/// A point of the machine's monotonic clock, in nanoseconds since some fixed point; never goes back.
public struct MonotonicTime: Comparable, Hashable, Sendable {
    /// Nanoseconds since the clock's zero.
    public let nanoseconds: UInt64

    /// Makes a point from its count of nanoseconds.
    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// The clock's reading at this moment (CLOCK_MONOTONIC).
    public static func read() -> MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    /// The uptime of the system, including suspension, in nanoseconds (CLOCK_BOOTTIME): the clock of processes' start
    /// times.
    public static func uptime() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    /// Whether the first point is the earlier one.
    public static func < (a: MonotonicTime, b: MonotonicTime) -> Bool { a.nanoseconds < b.nanoseconds }

    /// The point this many milliseconds later; saturates.
    public func advanced(milliseconds: Int) -> MonotonicTime {
        let (span, tooLong) = UInt64(max(0, milliseconds)).multipliedReportingOverflow(by: 1_000_000)
        let (sum, tooLate) = nanoseconds.addingReportingOverflow(span)
        return MonotonicTime(nanoseconds: tooLong || tooLate ? .max : sum)
    }

    /// The time from an earlier point to this one in microseconds; 0 if that point is later.
    public func microseconds(since earlier: MonotonicTime) -> Int {
        nanoseconds > earlier.nanoseconds ? Int(clamping: (nanoseconds - earlier.nanoseconds) / 1_000) : 0
    }
}

/// The wall clock, for times that people read.
public enum WallClock {
    /// Microseconds since 1970-01-01T00:00:00Z.
    public static func microseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) &* 1_000_000 &+ Int64(time.tv_nsec) / 1_000
    }
}

extension MonotonicTime {
    /// Waits until a descriptor is readable, or its other end is closed; `false` if this point of time comes first.
    public func waitForInput(_ fd: Int32) -> Bool { waitForInput([fd], orLossOf: []) != nil }

    /// Waits until one of several descriptors is readable, or the reader of another one is gone; returns the first of
    /// them, or `nil` if this point of time comes first.
    public func waitForInput(_ inputs: [Int32], orLossOf outputs: [Int32]) -> Int32? {
        wait(inputs.map { ($0, POLLIN) } + outputs.map { ($0, 0) })
    }

    /// Waits until a descriptor is writable, or its reader is gone, or one of the inputs is readable; returns which,
    /// the inputs first, or `nil` if this point of time comes first.
    public func waitForOutput(_ fd: Int32, or inputs: [Int32]) -> Int32? {
        wait(inputs.map { ($0, POLLIN) } + [(fd, POLLOUT)])
    }

    private func wait(_ interests: [(fd: Int32, events: Int32)]) -> Int32? {
        var entries = interests.map { pollfd(fd: $0.fd, events: Int16($0.events), revents: 0) }
        while true {
            let now = MonotonicTime.read().nanoseconds
            let left = nanoseconds > now ? (nanoseconds - now) / 1_000_000 + 1 : 0
            let count = poll(&entries, nfds_t(entries.count), Int32(clamping: left))
            if count > 0 { return entries.first { $0.revents != 0 }?.fd }
            if count < 0, errno != EINTR { return nil }
            if count == 0, left < Int32.max { return nil }
        }
    }
}
