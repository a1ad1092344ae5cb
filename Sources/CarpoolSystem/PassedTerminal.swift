internal import Glibc

/// A terminal that a client has passed, opened again: the mode of the passed descriptor is shared with the client and
/// stays, and without a mode of its own a write would hold a thread until the terminal takes it, which one that is
/// stopped (Ctrl-S) never does.
public enum PassedTerminal {
    /// Why a terminal is not used.
    public enum Refusal: Error, Equatable, Sendable {
        /// It is the side of the emulator (pts(4)).
        case isMaster
        /// /dev/tty, which means another terminal for each process.
        case isControllingTerminal
        /// It has been hung up (vhangup(2)), and its name may lead to the terminal of another user.
        case isHungUp
        /// It cannot be opened: the number of the error.
        case cannotOpen(Int32)
    }

    /// Whether a descriptor is a terminal, if only one that has been hung up. May wait for its lock.
    public static func isOne(_ raw: Int32) -> Bool { isatty(raw) == 1 || errno == EIO }

    /// Opens the terminal of a descriptor, so that writing does not wait. May block: for a thread of a ``Worker``.
    public static func open(_ raw: Int32) throws(Refusal) -> FileDescriptor {
        let device = PassedTerminal.device(raw)
        switch (device >> 8 & 0xFFF, device & 0xFF) {
        case (5, 2), (2, _): throw .isMaster
        case (5, 0): throw .isControllingTerminal
        default: break
        }
        let opened: FileDescriptor
        do throws(SystemError) {
            opened = try FileDescriptor.open("/proc/self/fd/\(raw)", O_WRONLY | O_NOCTTY | O_NONBLOCK)
        } catch {
            throw .cannotOpen(error.code)
        }
        // Looked at after it was opened: a hang-up before that is seen at the old descriptor, a later one at both.
        guard !isHungUp(raw), PassedTerminal.device(opened.raw) == device else { throw .isHungUp }
        return opened
    }

    private static func device(_ raw: Int32) -> UInt {
        var status = stat()
        return fstat(raw, &status) == 0 ? UInt(status.st_rdev) : 0
    }

    private static func isHungUp(_ raw: Int32) -> Bool {
        var state = pollfd(fd: raw, events: 0, revents: 0)
        return poll(&state, 1, 0) != 0
    }
}
