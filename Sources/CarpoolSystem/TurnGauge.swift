/// The lengths of the loop's turns: how many there were, the longest, and a histogram from which percentiles are read.
///
/// Adding a turn costs a few instructions and no memory: the histogram has a fixed number of buckets, eight for each
/// power of two, so that a percentile is at most an eighth too large.
public struct TurnGauge: Sendable {
    /// When and where a long turn ran, to compare it with what else the machine did at that time.
    public struct LongTurn: Equatable, Sendable {
        /// The end of the turn.
        public let end: MonotonicTime
        /// The time from its beginning to its end, in microseconds.
        public let wall: Int
        /// The part of that time in which the thread had no processor, in microseconds.
        public let waited: Int
        /// The part of that time in which the thread slept, in microseconds.
        public let slept: Int
        /// The number of the processor on which it ended.
        public let processor: Int
    }

    /// Turns that were added.
    public private(set) var count = 0
    /// The longest of them, in microseconds.
    public private(set) var longest = 0
    /// The time that the thread was without a processor in turns that were long enough to be checked, in
    /// microseconds.
    public private(set) var waited = 0
    /// The time that the thread slept in such turns, for a lock or anything else but events, in microseconds. It is
    /// part of their length.
    public private(set) var slept = 0
    /// The longest time that it slept in one turn, in microseconds.
    public private(set) var longestSleep = 0
    /// The latest turns that were recorded by ``record(_:)``, at most eight, the oldest first.
    public private(set) var longTurns: [LongTurn] = []
    private var buckets = [Int](repeating: 0, count: TurnGauge.bucketCount)

    private static let longTurnCount = 8
    /// Above 2^40 microseconds all turns are equal.
    private static let largest = (1 << 40) - 1
    private static let bucketCount = index(of: largest) + 1

    /// Creates a gauge without turns.
    public init() {}

    /// Adds a turn.
    /// - Parameters:
    ///   - microseconds: its length, without the time in which the thread had no processor.
    ///   - waited: that time.
    ///   - slept: the part of the length in which it slept.
    public mutating func add(_ microseconds: Int, waited: Int = 0, slept: Int = 0) {
        let length = min(max(0, microseconds), TurnGauge.largest)
        count += 1
        self.waited &+= waited
        self.slept &+= slept
        if slept > longestSleep { longestSleep = slept }
        if length > longest { longest = length }
        buckets[TurnGauge.index(of: length)] += 1
    }

    /// Records a long turn, in place of the oldest one if there are eight.
    public mutating func record(_ turn: LongTurn) {
        if longTurns.count == TurnGauge.longTurnCount { longTurns.removeFirst() }
        longTurns.append(turn)
    }

    /// The length in microseconds that this many of a thousand turns do not exceed; 0 if there was none.
    public func percentile(perMille share: Int) -> Int {
        // The turns above the percentile, rounded down: one slow turn of a hundred is above the 99.9th.
        var above = count * (1_000 - share) / 1_000
        for index in buckets.indices.reversed() where buckets[index] > 0 {
            above -= buckets[index]
            if above < 0 { return min(longest, TurnGauge.upperBound(ofBucket: index)) }
        }
        return 0
    }

    /// The number of turns longer than this many microseconds; exact for powers of two and three halves of them,
    /// otherwise as exact as the buckets.
    public func count(above microseconds: Int) -> Int {
        buckets[(TurnGauge.index(of: microseconds) + 1)...].reduce(0, +)
    }

    /// The number of turns of up to each power of two, from the shortest to the longest, without empty ones.
    public var octaves: [(upTo: Int, count: Int)] {
        var found: [(upTo: Int, count: Int)] = []
        for (index, count) in buckets.enumerated() where count > 0 {
            let bound = TurnGauge.upperBound(ofBucket: index)
            let upTo = bound == 0 ? 0 : (1 << (Int.bitWidth - bound.leadingZeroBitCount)) - 1
            if found.last?.upTo == upTo { found[found.count - 1].count += count } else { found.append((upTo, count)) }
        }
        return found
    }

    /// Values below 8 have a bucket each; from there on each power of two has eight.
    private static func index(of value: Int) -> Int {
        guard value >= 8 else { return max(0, value) }
        let octave = Int.bitWidth - 1 - value.leadingZeroBitCount
        return (octave - 3) * 8 + value >> (octave - 3)
    }

    private static func upperBound(ofBucket index: Int) -> Int {
        guard index >= 16 else { return index }
        let shift = index / 8 - 1
        return (index - shift * 8 + 1) << shift - 1
    }
}
