internal import CLinux
internal import Glibc

/// The resource limits of this process.
public enum ResourceLimits {
    /// Maximum number of descriptors of the loop's table.
    private static let mostOpenFiles: rlim_t = 1 << 20

    /// The number of files that may be open at a time; `nil` if unknown.
    public static var openFiles: Int? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return Int(clamping: limit.rlim_cur)
    }

    /// Protects this process's memory: it is not written to a file in a crash, and other processes of its user can
    /// neither trace it nor open its descriptors. Root can.
    public static func keepMemoryPrivate() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        _ = CLinux_forbid_inspection()
    }

    /// Raises the number of files that may be open at a time to the hard limit, and returns it.
    @discardableResult
    public static func raiseOpenFiles() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
        let former = limit.rlim_cur
        limit.rlim_cur = max(former, min(limit.rlim_max, mostOpenFiles))
        let isRaised = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        return Int(clamping: isRaised ? limit.rlim_cur : former)
    }

    /// The number of descriptors for which the kernel allocates its table at the start: 512 KiB.
    private static let readyFiles = 65_536

    /// Makes the kernel allocate the full table of this process's descriptors while there is one thread. Later each
    /// doubling of it makes the thread that opens the next file wait for all processors (synchronize_rcu), 8 to 16
    /// ms.
    public static func reserveOpenFiles() {
        let first = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard first >= 0 else { return }
        let last = fcntl(first, F_DUPFD_CLOEXEC, Int32(min(readyFiles, openFiles ?? 0) - 1))
        if last >= 0 { close(last) }
        close(first)
    }
}
