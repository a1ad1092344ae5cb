internal import Glibc

/// How long this thread has waited for a processor: the second field of `/proc/thread-self/schedstat`.
///
/// A turn's length is its wall time less this, so that other programs' load is not taken for the loop's work. The file is opened once, because
/// a process that may not be dumped (prctl(2)) has no say in who owns it. It is read at most once a millisecond: what the thread waited in the
/// gap before a turn is never subtracted from the turn, so that a turn is told up to a millisecond too long, but never too short.
struct ProcessorWait {
    private let fd: Int32
    private var atStart: (time: MonotonicTime, waited: Int)

    /// The least time between two readings.
    private static let interval = 1_000

    /// Opens the calling thread's file; without it nothing is ever subtracted.
    init() {
        fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)
        atStart = (.read(), 0)
        atStart.waited = reading()
    }

    func close() { if fd >= 0 { Glibc.close(fd) } }

    /// A turn begins.
    mutating func begin(at now: MonotonicTime) {
        guard fd >= 0, now.microseconds(since: atStart.time) >= ProcessorWait.interval else { return }
        atStart = (now, reading())
    }

    /// How long the thread has waited at least since the turn that began then, in microseconds.
    func waited(since start: MonotonicTime) -> Int {
        guard fd >= 0 else { return 0 }
        return max(0, reading() - atStart.waited - start.microseconds(since: atStart.time))
    }

    /// In microseconds since the thread began.
    private func reading() -> Int {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            let count = pread(fd, buffer.baseAddress, buffer.count, 0)
            guard count > 0 else { return 0 }
            var (place, value) = (0, 0)
            while place < count, buffer[place] != UInt8(ascii: " ") { place &+= 1 }
            place &+= 1
            while place < count, buffer[place] &- UInt8(ascii: "0") < 10 {
                value = value &* 10 &+ Int(buffer[place] &- UInt8(ascii: "0"))
                place &+= 1
            }
            return value / 1_000
        }
    }
}
