/// An error of a call.
public enum ClientError: Error, Equatable, Sendable {
    /// No daemon answers at the socket, and none could be started. The hint says what to do.
    case unreachable(socketPath: String, reason: String, hint: String?)
    /// The daemon answered with an error.
    case refused(RemoteError)
    /// The daemon closed the connection before it answered.
    case disconnected(String)
    /// The daemon closed the connection before it read the call, which may be sent to the next daemon.
    case unread
    /// `CARPOOL_CLIENT` is not a valid name; the text says why.
    case invalidName(String)
    /// The peer does not use the protocol.
    case protocolViolation(String)
}

/// The error object of a JSON-RPC answer.
public struct RemoteError: Error, Equatable, Sendable {
    /// The error code of JSON-RPC 2.0.
    public let code: Int64
    /// A sentence for users.
    public let message: String
    /// The documented name of the error (`data.name`).
    public let name: String?
    /// The remedy (`data.hint`).
    public let hint: String?
}
