package import CarpoolClient
package import CarpoolSystem
internal import Glibc

extension SystemError {
    /// The exit code of a failure for this reason: that of a time limit if a pipe's other end was not there in time.
    package func exitCode(or code: ExitCode) -> ExitCode { self.code == ETIME ? .timedOut : code }
}

/// A failure of the command: its exit code and its error message.
package struct Failure: Error {
    package let code: ExitCode
    /// The error message; `nil` for none.
    package let message: String?
    package var hint: String?
    /// The documented name of the daemon's error, if it has refused the call.
    package private(set) var refusal: String?
    /// Whether the daemon has not read the call.
    package private(set) var isUnread = false
    /// Whether the daemon closed the connection, before or after it read the call.
    package private(set) var isDisconnected = false
    /// The signal by which the command ends, if there is no message.
    package private(set) var signal: Int32?

    package init(_ code: ExitCode, _ message: String?, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// The failure of another call on the same connection, which the daemon may have read.
    package var asRead: Failure {
        var failure = self
        failure.isUnread = false
        return failure
    }

    /// The reader of standard output has closed it.
    package static var brokenPipe: Failure { ended(by: SIGPIPE) }

    /// The command was interrupted by a signal, and has cleaned up.
    package static func ended(by signal: Int32) -> Failure {
        var failure = Failure(.transferFailed, nil)
        failure.signal = signal
        return failure
    }

    package init(_ error: ClientError) {
        switch error {
        case .unreachable(let path, let reason, let hint):
            self.init(.unreachable, "cannot reach the daemon at \(path): \(reason)", hint: hint)
        case .refused(let remote):
            let name = remote.name.map { "\($0), " } ?? ""
            self.init(.refused, "\(remote.message) (\(name)code \(remote.code))", hint: remote.hint)
            refusal = remote.name
        case .disconnected(let reason):
            self.init(.unreachable, reason)
            isDisconnected = true
        case .unread:
            self.init(.unreachable, "the daemon closed the connection")
            isUnread = true
            isDisconnected = true
        case .invalidName(let reason):
            self.init(
                .usage, "CARPOOL_CLIENT is not a valid name: \(reason)", hint: "unset it, or use 1 to 64 bytes of text")
        case .protocolViolation(let reason): self.init(.unreachable, "the peer is not a Carpool daemon: \(reason)")
        }
    }
}
