internal import CarpoolHTTP
public import CarpoolSystem

extension SessionError {
    /// The failure of a system call, if it says nothing about the file or the peer but that the daemon or the machine
    /// is short of a resource; `nil` for other failures.
    public static func shortage(_ error: SystemError) -> SessionError? {
        guard error.isShortage else { return nil }
        return sessionTaskFailed(
            TransportError(
                .resourceUnavailable, "\(error.operation): \(Shortage.explanation(of: error.code))",
                systemCode: error.code, isRetryable: true))
    }
}
