internal import CLinux
internal import Glibc

/// A signal that a daemon reacts to.
public enum Signal: Sendable, CaseIterable {
    /// SIGTERM: finish the running requests and exit.
    case terminate
    /// SIGINT: the same, from a terminal.
    case interrupt
    /// SIGHUP: read the configuration again.
    case hangUp

    var number: Int32 {
        switch self {
        case .terminate: SIGTERM
        case .interrupt: SIGINT
        case .hangUp: SIGHUP
        }
    }
}

/// Signals as events of the loop: the handler runs between other events, without the restrictions of a signal handler.
public final class SignalSource: ReadinessHandler {
    private let loop: EventLoop
    private let fd: Int32
    private let handler: (Signal) -> Void

    /// Blocks SIGTERM, SIGINT and SIGHUP and passes them to the handler; SIGPIPE is ignored from now on.
    ///
    /// Create it before any thread is started: threads inherit the blocked signals.
    public init(loop: EventLoop, handler: @escaping (Signal) -> Void) throws(SystemError) {
        self.loop = loop
        self.handler = handler
        var set = sigset_t()
        sigemptyset(&set)
        for signal in Signal.allCases { sigaddset(&set, signal.number) }
        guard pthread_sigmask(SIG_BLOCK, &set, nil) == 0 else { throw .last("pthread_sigmask") }
        Glibc.signal(SIGPIPE, SIG_IGN)
        fd = signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
        guard fd >= 0 else { throw .last("signalfd") }
        loop.setInterest(.readable, for: fd, handler: self)
    }

    /// Stops listening; the signals stay blocked. The loop keeps the source alive until then.
    public func close() {
        loop.forget(fd)
        Glibc.close(fd)
    }

    /// Reads the received signals.
    public func descriptorIsReady(_ fd: Int32, _ readiness: Readiness) {
        var info = signalfd_siginfo()
        while read(fd, &info, MemoryLayout<signalfd_siginfo>.size) == MemoryLayout<signalfd_siginfo>.size {
            let number = Int32(bitPattern: info.ssi_signo)
            if let signal = Signal.allCases.first(where: { $0.number == number }) { handler(signal) }
        }
    }
}

extension Signal {
    /// Ignores the signals whose default action ends a process although they mean nothing to a daemon: those of timers,
    /// pipes and users, and the real-time ones.
    public static func ignoreMeaningless() {
        let named = [SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGSTKFLT, SIGPWR]
        for number in named + Array(__libc_current_sigrtmin()...__libc_current_sigrtmax()) { signal(number, SIG_IGN) }
    }
}

extension FileDescriptor {
    /// A descriptor that can be read while one of these signals, which its process has blocked, is pending
    /// (signalfd(2)).
    public static func signals(_ numbers: [Int32]) throws(SystemError) -> FileDescriptor {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        let fd = signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
        guard fd >= 0 else { throw .last("signalfd") }
        return FileDescriptor(owning: fd)
    }
}
