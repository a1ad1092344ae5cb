internal import Glibc

/// How long a turn did not have its processor: other threads had it, or the host of a virtual machine.
///
/// A turn's length is its wall time less this, so that other programs' load is not taken for the loop's work. The kernel is asked at most once
/// a millisecond: what was taken in the gap before a turn is never subtracted from the turn, so that a turn may seem up to a millisecond too
/// long, but never too short.
struct ProcessorWait {
    /// What the kernel has noted of a thread until a time; spans are in microseconds.
    struct Reading {
        let time: MonotonicTime
        /// How long it ran. Without what the host took, where the kernel accounts for that.
        let ran: Int
        /// How long it could have run and waited.
        let waited: Int
        /// How often it was given a processor.
        let timeslices: Int

        /// How long the thread did not have its processor in a turn that began after another reading and ends with this one.
        func taken(since former: Reading, turnBegan start: MonotonicTime) -> Int {
            // It never left its processor, so it did not block: what it did not run was taken from the machine.
            if timeslices == former.timeslices { return max(0, time.microseconds(since: start) - (ran - former.ran)) }
            return max(0, waited - former.waited - start.microseconds(since: former.time))
        }
    }

    /// `/proc/thread-self/schedstat`, opened once, because a process that may not be dumped (prctl(2)) has no say in who owns it.
    private let fd: Int32
    private var atStart = Reading(time: .read(), ran: 0, waited: 0, timeslices: -1)

    /// The least time between two readings.
    private static let interval = 1_000

    /// Opens the calling thread's file; without it nothing is ever subtracted.
    init() {
        fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)
        atStart = reading() ?? atStart
    }

    func close() { if fd >= 0 { Glibc.close(fd) } }

    /// A turn begins.
    mutating func begin(at now: MonotonicTime) {
        guard fd >= 0, now.microseconds(since: atStart.time) >= ProcessorWait.interval else { return }
        atStart = reading() ?? atStart
    }

    /// How long at least the thread did not have its processor since the turn that began then, in microseconds.
    func taken(since start: MonotonicTime) -> Int {
        guard fd >= 0, let now = reading() else { return 0 }
        return now.taken(since: atStart, turnBegan: start)
    }

    private func reading() -> Reading? {
        withUnsafeTemporaryAllocation(byteCount: 96, alignment: 1) { buffer in
            let count = pread(fd, buffer.baseAddress, buffer.count, 0)
            guard count > 0 else { return nil }
            var place = 0
            func number() -> Int {
                var value = 0
                while place < count, buffer[place] &- UInt8(ascii: "0") < 10 {
                    value = value &* 10 &+ Int(buffer[place] &- UInt8(ascii: "0"))
                    place &+= 1
                }
                place &+= 1
                return value
            }
            // The file's first number is up to a tick of the kernel old; the clock is not.
            _ = number()
            var ran = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran)
            return Reading(
                time: .read(), ran: Int(ran.tv_sec) &* 1_000_000 &+ Int(ran.tv_nsec) / 1_000,
                waited: number() / 1_000, timeslices: number())
        }
    }
}
