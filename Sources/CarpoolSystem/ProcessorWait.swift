internal import CLinux
internal import Glibc

/// Measures how long the loop's thread had no processor during a turn, because of other threads or of the host of a
/// virtual machine.
///
/// A turn's length is its wall time less this, so that other programs' load is not taken for the loop's work. A turn
/// in which the thread waited for nothing takes the time in which it ran, whatever interrupted it. In another turn
/// only the waiting for a processor is subtracted.
///
/// The kernel's times are read at most once a millisecond. Time between that reading and the turn is never subtracted
/// from the turn: a turn may seem up to a millisecond too long, but never too short.
///
/// What remains of a turn in which the thread waited is time asleep, such as for another thread's lock: it is part of
/// the turn's length, and measured by name. It may seem up to a millisecond too short. The host's share counts as sleep
/// in such a turn.
struct ProcessorWait {
    /// The kernel's accounting of a thread at one time; spans are in microseconds.
    struct Reading {
        let time: MonotonicTime
        /// The time that it ran, without steal time where the kernel accounts for that.
        let ran: Int
        /// The time that it was runnable and waited for a processor.
        let waited: Int
        /// The number of voluntary context switches, such as each blocking call makes.
        let voluntarySwitches: Int

        /// The time that the thread was without its processor in a turn that began after another reading and ends
        /// with this one.
        /// - Parameter switches: how many voluntary switches there were when the turn began.
        func taken(since former: Reading, turnBegan start: MonotonicTime, switches: Int) -> Int {
            let begin = max(start, former.time)
            let waited = waited - former.waited - begin.microseconds(since: former.time)
            guard voluntarySwitches == switches else { return max(0, waited) }
            return max(0, waited, time.microseconds(since: begin) - (ran - former.ran))
        }

        /// The time that the thread was asleep in a turn that ends with this reading.
        /// - Parameters:
        ///   - idle: how long it waited for events between the two readings.
        ///   - switches: how many voluntary switches there were when the turn began.
        func slept(since former: Reading, idle: Int, switches: Int) -> Int {
            guard voluntarySwitches != switches else { return 0 }
            return max(0, time.microseconds(since: former.time) - (ran - former.ran) - (waited - former.waited) - idle)
        }
    }

    /// The parts of a turn in which the thread did not run, in microseconds.
    struct TimeOff {
        /// The minimum time without its processor.
        var waited = 0
        /// The minimum time asleep.
        var slept = 0
    }

    /// `/proc/thread-self/schedstat`, opened once, because a process that is not dumpable (prctl(2)) does not own it
    /// later.
    private let fd: Int32
    private var former = Reading(time: .read(), ran: 0, waited: 0, voluntarySwitches: -1)

    /// The number of voluntary switches at the beginning of the turn.
    private var switches = -1
    /// How long the thread waited for events since the former reading, in microseconds.
    private var idle = 0

    /// The least time between two readings, in microseconds.
    private static let interval = 1_000
    /// A thread that waited for events for a shorter time, in microseconds, has not slept: that takes two changes of
    /// context.
    private static let shortestSleep = 5

    /// Opens the calling thread's file; without it nothing is ever subtracted.
    init() {
        fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)
        guard let reading = reading() else { return }
        former = reading
        switches = reading.voluntarySwitches
    }

    func close() { if fd >= 0 { Glibc.close(fd) } }

    /// A turn begins, after the loop has waited for events for this many microseconds.
    mutating func begin(at now: MonotonicTime, afterWaiting wait: Int) {
        guard fd >= 0 else { return }
        if now.microseconds(since: former.time) >= ProcessorWait.interval, let reading = reading() {
            former = reading
            switches = reading.voluntarySwitches
            idle = 0
            return
        }
        idle &+= wait
        if wait >= ProcessorWait.shortestSleep { switches = CLinux_voluntary_switches() }
    }

    /// The parts of a turn with this beginning and end in which the thread did not run. Time since its end counts as if
    /// the thread had waited meanwhile.
    func taken(since start: MonotonicTime, until end: MonotonicTime) -> TimeOff {
        guard fd >= 0, let now = reading() else { return TimeOff() }
        let length = end.microseconds(since: start)
        let taken = now.taken(since: former, turnBegan: start, switches: switches)
        let waited = min(length, max(0, taken - MonotonicTime.read().microseconds(since: end)))
        let slept = now.slept(since: former, idle: idle, switches: switches)
        return TimeOff(waited: waited, slept: min(length - waited, slept))
    }

    private func reading() -> Reading? {
        // The time is read first: a delay between it and the others makes a turn longer and not shorter.
        let time = MonotonicTime.read()
        return withUnsafeTemporaryAllocation(byteCount: 96, alignment: 1) { buffer in
            let count = pread(fd, buffer.baseAddress, buffer.count, 0)
            guard count > 0 else { return nil }
            return Reading(
                time: time, ran: Clock.threadMicroseconds(),
                waited: ProcessorWait.secondNumber(UnsafeRawBufferPointer(rebasing: buffer[..<count])) / 1_000,
                voluntarySwitches: CLinux_voluntary_switches())
        }
    }

    /// The second of the file's three numbers: nanoseconds of waiting. The first, those of running, is up to a tick
    /// of the kernel old.
    private static func secondNumber(_ text: UnsafeRawBufferPointer) -> Int {
        var (number, blanks) = (0, 0)
        for byte in text {
            if byte == UInt8(ascii: " ") {
                blanks += 1
                if blanks == 2 { break }
            } else if blanks == 1 {
                number = number &* 10 &+ Int(byte &- UInt8(ascii: "0"))
            }
        }
        return number
    }
}
