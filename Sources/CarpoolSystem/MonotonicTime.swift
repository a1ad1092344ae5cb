internal import Glibc

/// A point of the machine's monotonic clock, in nanoseconds since some fixed point; never goes back.
public struct MonotonicTime: Comparable, Hashable, Sendable {
    /// Nanoseconds since the clock's zero.
    public let nanoseconds: UInt64

    /// Makes a point from its count of nanoseconds.
    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// The clock's reading at this moment (CLOCK_MONOTONIC).
    public static func read() -> MonotonicTime { MonotonicTime(nanoseconds: reading(of: CLOCK_MONOTONIC)) }

    /// The uptime of the system, including suspension, in nanoseconds (CLOCK_BOOTTIME): the clock of processes' start
    /// times.
    public static func uptime() -> UInt64 { reading(of: CLOCK_BOOTTIME) }

    private static func reading(of clock: clockid_t) -> UInt64 {
        let time = Clock.read(clock)
        let nanoseconds = UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
        return nanoseconds &+ UInt64(bitPattern: Clock.offset(of: clock))
    }

    /// Whether the first point is the earlier one.
    public static func < (a: MonotonicTime, b: MonotonicTime) -> Bool { a.nanoseconds < b.nanoseconds }

    /// The point this many milliseconds later, or earlier if the number is negative; saturates.
    public func advanced(milliseconds: Int) -> MonotonicTime {
        let (span, isTooLong) = UInt64(milliseconds.magnitude).multipliedReportingOverflow(by: 1_000_000)
        guard milliseconds < 0 else {
            let (sum, isTooLate) = nanoseconds.addingReportingOverflow(span)
            return MonotonicTime(nanoseconds: isTooLong || isTooLate ? .max : sum)
        }
        let (difference, isTooEarly) = nanoseconds.subtractingReportingOverflow(span)
        return MonotonicTime(nanoseconds: isTooLong || isTooEarly ? 0 : difference)
    }

    /// The time from an earlier point to this one in microseconds; 0 if that point is later.
    public func microseconds(since earlier: MonotonicTime) -> Int {
        nanoseconds > earlier.nanoseconds ? Int(clamping: (nanoseconds - earlier.nanoseconds) / 1_000) : 0
    }
}

/// The wall clock, for times that people read.
public enum WallClock {
    /// Microseconds since 1970-01-01T00:00:00Z.
    public static func microseconds() -> Int64 { kernelMicroseconds() &+ Clock.offset(of: CLOCK_REALTIME) / 1_000 }

    /// The same by the kernel's clock, which gives files their times: a test can shift ``microseconds()`` alone.
    public static func kernelMicroseconds() -> Int64 {
        let time = Clock.read(CLOCK_REALTIME)
        return Int64(time.tv_sec) &* 1_000_000 &+ Int64(time.tv_nsec) / 1_000
    }
}

/// The only place where Swift code reads the kernel's clocks. libcurl, OpenSSL and SQLite read them by themselves.
enum Clock {
    /// The reading of a clock of the kernel.
    fileprivate static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        clock_gettime(clock, &time)
        return time
    }

    #if CARPOOL_CLOCK_OFFSETS
        /// What a test adds to a clock, in nanoseconds.
        fileprivate static func offset(of clock: clockid_t) -> Int64 { ClockOffsets.nanoseconds(of: clock) }
        /// A turn of the loop begins: what a test adds may have changed.
        static func beginTurn() { ClockOffsets.load() }
        /// How long the loop may sleep that wants to sleep so many milliseconds; -1 is without a limit.
        static func limit(_ milliseconds: Int32) -> Int32 { ClockOffsets.limit(milliseconds) }
    #else
        @inline(__always) fileprivate static func offset(of clock: clockid_t) -> Int64 { 0 }
        @inline(__always) static func beginTurn() {}
        @inline(__always) static func limit(_ milliseconds: Int32) -> Int32 { milliseconds }
    #endif

    /// The processor time of the calling thread, in microseconds.
    static func threadMicroseconds() -> Int {
        let time = read(CLOCK_THREAD_CPUTIME_ID)
        return time.tv_sec &* 1_000_000 &+ time.tv_nsec / 1_000
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
