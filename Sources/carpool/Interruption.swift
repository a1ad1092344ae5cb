internal import Glibc

/// Puts off the signals that end a command until it has left things in order.
struct Interruption {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]

    init() { Interruption.change(SIG_BLOCK) }

    /// The signal that has come meanwhile.
    var signal: Int32? {
        var pending = sigset_t()
        sigpending(&pending)
        return Interruption.signals.first { sigismember(&pending, $0) == 1 }
    }

    /// Ends the command by it, as if nothing had been put off.
    func end(by signal: Int32) -> Never {
        Interruption.change(SIG_UNBLOCK)
        // Whoever ignores the signal has it lost by now.
        exit(128 + signal)
    }

    private static func change(_ how: Int32) {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        sigprocmask(how, &set, nil)
    }
}
