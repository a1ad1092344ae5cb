package import CarpoolSystem
internal import Glibc

/// Blocks the signals that end a command until it has cleaned up.
package struct Interruption {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]

    /// The blocked signals, without those that are ignored, as by `nohup`.
    private let signals: [Int32]

    package init() {
        signals = Interruption.signals.filter { !Interruption.isIgnored($0) }
        Interruption.change(SIG_BLOCK, signals)
    }

    /// The pending signal.
    package var signal: Int32? {
        var pending = sigset_t()
        sigpending(&pending)
        return signals.first { sigismember(&pending, $0) == 1 }
    }

    /// A descriptor that is readable when a signal is pending.
    package func descriptor() throws(SystemError) -> FileDescriptor { try FileDescriptor.signals(signals) }

    /// Lets the signals end the command again.
    package func unblock() { Interruption.change(SIG_UNBLOCK, signals) }

    /// Ends the command by a signal.
    package static func end(by signal: Int32) -> Never {
        change(SIG_UNBLOCK, signals)
        // The signal is ignored.
        exit(128 + signal)
    }

    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    private static func change(_ how: Int32, _ signals: [Int32]) {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        sigprocmask(how, &set, nil)
    }
}
