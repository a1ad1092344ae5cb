internal import CarpoolSystem

/// A point of time on two clocks: a span between two points of the same run is that of the clock that nobody sets.
public struct CacheTime: Sendable, Equatable {
    /// The wall clock: milliseconds since 1970-01-01T00:00:00Z.
    public let wall: Int64
    /// The time since the machine's start, suspension included, in milliseconds; `nil` for a point of an earlier run.
    public let uptime: Int64?

    /// Makes a point of time.
    public init(wall: Int64, uptime: Int64?) {
        self.wall = wall
        self.uptime = uptime
    }

    /// The time now.
    public static func now() -> CacheTime {
        CacheTime(wall: WallClock.microseconds() / 1_000, uptime: Int64(MonotonicTime.uptime() / 1_000_000))
    }

    /// Milliseconds from an earlier point to this one; negative if the wall clock was set back between two runs.
    public func milliseconds(since earlier: CacheTime) -> Int64 {
        if let uptime, let start = earlier.uptime { return uptime &- start }
        return wall &- earlier.wall
    }

    /// The point so many milliseconds later.
    public func advanced(milliseconds: Int64) -> CacheTime {
        CacheTime(wall: wall &+ milliseconds, uptime: uptime.map { $0 &+ milliseconds })
    }
}
