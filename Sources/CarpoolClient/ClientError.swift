/// Why a call has no result.
public enum ClientError: Error, Equatable, Sendable {
    /// No daemon answers at the socket, and none could be started. The reason is a sentence, the hint says what to do.
    case unreachable(socketPath: String, reason: String, hint: String?)
    /// The daemon answered with an error.
    case refused(RemoteError)
    /// The daemon closed the connection before it answered.
    case disconnected(String)
    /// `CARPOOL_CLIENT` holds what no client can be called; the text says why.
    case invalidName(String)
    /// What came over the socket is not the protocol.
    case protocolViolation(String)
}

/// An error that the daemon answered with.
public struct RemoteError: Error, Equatable, Sendable {
    /// The number, as in JSON-RPC 2.0.
    public let code: Int64
    /// A sentence for people.
    public let message: String
    /// The documented identity (`data.name`).
    public let name: String?
    /// What to do about it (`data.hint`).
    public let hint: String?
}
