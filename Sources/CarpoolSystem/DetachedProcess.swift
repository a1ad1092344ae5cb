internal import CLinux
internal import Glibc

/// A program that outlives the process that starts it: in a session of its own, in the directory `/`, without
/// inherited descriptors.
public struct DetachedProcess: Sendable {
    /// The process.
    public let pid: Int32

    /// Starts a program with exactly these arguments (the program's name is put before them) and variables
    /// (`NAME=value`).
    ///
    /// Its standard output and error go to `log`, its descriptor 3 is `status`, its standard input is empty.
    public static func spawn(
        _ path: String, arguments: [String], environment: [String], log: borrowing FileDescriptor,
        status: borrowing FileDescriptor
    ) throws(SystemError) -> DetachedProcess {
        var arguments: [UnsafeMutablePointer<CChar>?] =
            [SystemPath.withBytes(path) { strdup($0) }] + arguments.map { strdup($0) } + [nil]
        var environment: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
        defer { for pointer in arguments + environment { free(pointer) } }
        // Moved up, so that putting one in its place cannot overwrite another.
        let log = try above(log.raw)
        let status = try above(status.raw)
        let pid = SystemPath.withBytes(path) {
            CLinux_spawn_detached($0, &arguments, &environment, log.raw, status.raw)
        }
        guard pid > 0 else { throw .last("posix_spawn", path) }
        return DetachedProcess(pid: pid)
    }

    private static func above(_ fd: Int32) throws(SystemError) -> FileDescriptor {
        let copy = fcntl(fd, F_DUPFD_CLOEXEC, 10)
        guard copy >= 0 else { throw .last("fcntl F_DUPFD_CLOEXEC") }
        return FileDescriptor(owning: copy)
    }

    /// Waits until the process has ended, and returns its exit code, or 128 and the number of the signal that ended
    /// it.
    public func waitForExit() -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 { guard errno == EINTR else { return -1 } }
        return CLinux_exit_code(status)
    }
}
