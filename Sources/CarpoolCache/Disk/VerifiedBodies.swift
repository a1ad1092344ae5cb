internal import CarpoolSystem
internal import Glibc
internal import Synchronization

/// The body files whose bytes were compared with their checksum in this run, as they were then. A file that was linked
/// to another name may be changed through that name: then it is compared again.
final class VerifiedBodies: Sendable {
    /// What changes when a file is written to.
    private struct Stamp: Equatable {
        let number: UInt
        let size: Int
        let seconds: Int
        let nanoseconds: Int
    }

    private let stamps = Mutex<[Int64: Stamp]>([:])
    private static let maximum = 4_096
    /// Within this time another write may leave the same time of change.
    private static let resolutionMilliseconds = 20

    /// Whether an open file is as it was when it was compared.
    func contains(_ id: Int64, _ descriptor: Int32) -> Bool {
        guard let stamp = VerifiedBodies.stamp(of: descriptor) else { return false }
        return stamps.withLock { $0[id] == stamp }
    }

    /// Notes that the bytes of an open file are right. Does nothing if it was changed just now.
    func insert(_ id: Int64, _ descriptor: Int32) {
        guard let stamp = VerifiedBodies.stamp(of: descriptor), !VerifiedBodies.isRecent(stamp) else { return }
        stamps.withLock { stamps in
            if stamps.count >= VerifiedBodies.maximum { stamps = [:] }
            stamps[id] = stamp
        }
    }

    private static func isRecent(_ stamp: Stamp) -> Bool {
        let now = WallClock.kernelMicroseconds()
        let seconds = Int(now / 1_000_000) - stamp.seconds
        guard abs(seconds) <= 1 else { return false }
        let milliseconds = seconds * 1_000 + (Int(now % 1_000_000) - stamp.nanoseconds / 1_000) / 1_000
        return abs(milliseconds) <= resolutionMilliseconds
    }

    private static func stamp(of descriptor: Int32) -> Stamp? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        return Stamp(
            number: UInt(status.st_ino), size: Int(status.st_size), seconds: Int(status.st_mtim.tv_sec),
            nanoseconds: Int(status.st_mtim.tv_nsec))
    }
}
