internal import CarpoolRPC
internal import CarpoolSystem
internal import Glibc

/// Why a descriptor that was passed for a body is not written to.
struct OutputRefusal: Sendable {
    let code: Int32
    let reason: String
    let hint: String

    /// The error of the call.
    func error(at index: Int) -> RPCError {
        guard !Shortage.noteIfShort(code) else { return .shortage(code) }
        var error = RPCError.cannotOpen(path: "descriptor \(index)", errno: Int(code), reason: reason)
        error.hint = hint
        return error
    }
}

extension OutputRefusal {
    private static let pipeInstead = "pass a pipe, and copy what comes out of it"

    static let readOnly = OutputRefusal(
        code: EBADF, reason: "it is not open for writing", hint: "pass a descriptor that was opened for writing")
    static let kernel = OutputRefusal(
        code: EINVAL, reason: "a file of the kernel, such as one of /proc or /sys", hint: pipeInstead)
    static let program = OutputRefusal(
        code: EINVAL, reason: "a file with a set-user-ID or set-group-ID bit",
        hint: "remove the bit first (chmod ug-s)")
    static let socket = OutputRefusal(
        code: ENOTCONN, reason: "not a connected stream socket of AF_UNIX, AF_INET or AF_INET6", hint: pipeInstead)
    static let ownConnection = OutputRefusal(
        code: EINVAL, reason: "a connection to the daemon", hint: "pass a pipe or another socket")
    static let device = OutputRefusal(
        code: EINVAL,
        reason: "not a pipe, a socket, a terminal, a regular file, or one of /dev/null, /dev/zero and /dev/full",
        hint: pipeInstead)

    static func otherUser(_ uid: UInt32) -> OutputRefusal {
        OutputRefusal(
            code: EACCES, reason: "a Unix socket whose other end belongs to the user \(uid)", hint: pipeInstead)
    }

    static func terminal(_ refusal: PassedTerminal.Refusal) -> OutputRefusal {
        switch refusal {
        case .isMaster:
            OutputRefusal(
                code: EINVAL, reason: "the side of a terminal's emulator", hint: "pass the terminal itself")
        case .isControllingTerminal:
            OutputRefusal(
                code: EINVAL, reason: "/dev/tty means another terminal for each process",
                hint: "open the terminal by the name that tty(1) prints")
        case .isHungUp:
            OutputRefusal(code: EIO, reason: "the terminal has been hung up", hint: pipeInstead)
        case .cannotOpen(let code):
            OutputRefusal(
                code: code,
                reason: "the daemon cannot open the terminal: \(SystemError(code: code, operation: "open").reason)",
                hint: pipeInstead)
        }
    }
}
