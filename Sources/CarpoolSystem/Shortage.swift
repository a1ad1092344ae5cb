internal import CLinux
internal import Glibc

/// A shortage of the process or the machine: no descriptor, no memory or no thread is free for a call. It is no
/// property of the call's caller, and it passes, so that the same call may succeed later.
public enum Shortage {
    /// The number of calls that have failed with a shortage since the start; any thread may read it.
    public static var count: Int { CLinux_shortage_count() }

    /// The `errno` of the last such call; 0 before the first.
    public static var lastCode: Int32 { CLinux_shortage_code() }

    /// Whether this `errno` is one of a shortage. For pthread_create(3) EAGAIN is one too: see ``note(_:)``.
    public static func isShortage(_ code: Int32) -> Bool {
        code == EMFILE || code == ENFILE || code == ENOMEM || code == ENOBUFS
    }

    /// Notes the `errno` of a failed call if it is one of a shortage. Returns whether it is.
    @discardableResult public static func noteIfShort(_ code: Int32) -> Bool {
        guard isShortage(code) else { return false }
        note(code)
        return true
    }

    /// Notes a call that has failed for a shortage.
    public static func note(_ code: Int32) { CLinux_note_shortage(code) }

    /// The `errno` of a shortage that was noted since the count had this value, or that there is now; `nil` if there is
    /// none. For failures of libraries that do not pass on the `errno`.
    public static func since(_ count: Int) -> Int32? {
        guard count == self.count else { return lastCode }
        let probe = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard probe < 0 else {
            close(probe)
            return nil
        }
        return noteIfShort(errno) ? lastCode : nil
    }

    /// The `errno` of a shortage that the text of a library quotes (strerror(3)); `nil` if there is none.
    public static func code(in text: String) -> Int32? {
        [EMFILE, ENFILE, ENOMEM, ENOBUFS].first { text.contains(SystemError.reason(of: $0)) }
    }

    /// What is missing, in words for a message.
    public static func explanation(of code: Int32) -> String {
        let reason = SystemError.reason(of: code)
        switch code {
        case EMFILE:
            let limit = ResourceLimits.openFiles.map { " RLIMIT_NOFILE is \($0)." } ?? ""
            return "the daemon has no free file descriptor: \(reason).\(limit)"
        case ENFILE: return "the machine has no free file descriptor: \(reason)."
        case EAGAIN: return "the system starts no more threads for the daemon: \(reason)."
        default: return "the system has no memory for the daemon: \(reason)."
        }
    }

    /// What users can do against it.
    public static func remedy(for code: Int32) -> String {
        switch code {
        case EMFILE: "try again; if it happens often, raise the daemon's limit of open files (ulimit -n, LimitNOFILE)"
        case ENFILE: "try again; if it happens often, raise fs.file-max (sysctl)"
        case EAGAIN: "try again; if it happens often, raise the limit of processes (ulimit -u, TasksMax)"
        default: "try again when the machine has free memory"
        }
    }
}

extension SystemError {
    /// Whether the call failed because the process or the machine is short of a resource.
    public var isShortage: Bool { Shortage.isShortage(code) }
}
