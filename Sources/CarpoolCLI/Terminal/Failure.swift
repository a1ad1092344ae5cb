internal import CarpoolClient
internal import CarpoolSystem
internal import Glibc

/// Why a command ends early: its exit code, and the lines for standard error.
struct Failure: Error {
    let code: ExitCode
    /// `nil` when there is nothing to say.
    let message: String?
    var hint: String?
    /// By which the command ends, when there is nothing to say.
    private(set) var signal: Int32?

    init(_ code: ExitCode, _ message: String?, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// Nobody reads our output any more.
    static var brokenPipe: Failure { ended(by: SIGPIPE) }

    /// A signal has ended the command, which has left things in order before.
    static func ended(by signal: Int32) -> Failure {
        var failure = Failure(.transferFailed, nil)
        failure.signal = signal
        return failure
    }

    init(_ error: ClientError) {
        switch error {
        case .unreachable(let path, let reason, let hint):
            self.init(.unreachable, "cannot reach the daemon at \(path): \(reason)", hint: hint)
        case .refused(let remote):
            let name = remote.name.map { "\($0), " } ?? ""
            self.init(.refused, "\(remote.message) (\(name)code \(remote.code))", hint: remote.hint)
        case .disconnected(let reason): self.init(.unreachable, reason)
        case .invalidName(let reason):
            self.init(.usage, "CARPOOL_CLIENT is no name: \(reason)", hint: "unset it, or use 1 to 64 bytes of text")
        case .protocolViolation(let reason): self.init(.unreachable, "what answers is not a daemon of ours: \(reason)")
        }
    }
}
