internal import CLinux
internal import Glibc

/// Reports to the program that started the daemon whether it serves: one line on a pipe, `ready` or the reason why
/// not.
///
/// The pipe is a descriptor whose number is in `CARPOOL_STATUS_FD`; without the variable nothing is written.
public struct LaunchStatus: ~Copyable {
    /// The variable that names the descriptor.
    public static let variable = "CARPOOL_STATUS_FD"
    /// The line for a daemon that serves.
    public static let ready = "ready"

    private let pipe: FileDescriptor?

    private init(pipe: consuming FileDescriptor?) { self.pipe = pipe }

    /// Takes over the descriptor and unsets the variable, so that it is used once and not inherited by a child.
    public static func takeFromEnvironment() -> LaunchStatus {
        let value = Environment.process[variable]
        unsetenv(variable)
        return take(value)
    }

    static func take(_ value: String?) -> LaunchStatus {
        var info = stat()
        guard let number = value.flatMap({ Int32($0) }), number > 2, fstat(number, &info) == 0,
            info.st_mode & S_IFMT == S_IFIFO
        else { return LaunchStatus(pipe: nil) }
        _ = CLinux_set_close_on_exec(number, 1)
        return LaunchStatus(pipe: FileDescriptor(owning: number))
    }

    /// Reports that the daemon serves, and closes the pipe.
    public consuming func reportReady() { report(LaunchStatus.ready) }

    /// Reports in one line why the daemon does not start, and closes the pipe.
    public consuming func reportFailure(_ reason: String) { report(String(reason.map { $0.isNewline ? " " : $0 })) }

    private borrowing func report(_ line: String) {
        guard let raw = rawDescriptor else { return }
        let bytes = Array((line + "\n").utf8)
        // The reader may have closed the pipe, which raises SIGPIPE unless the daemon ignores it; it does, before it
        // reports anything.
        _ = write(raw, bytes, bytes.count)
    }

    private var rawDescriptor: Int32? {
        switch pipe {
        case .some(let descriptor): descriptor.raw
        case .none: nil
        }
    }
}
