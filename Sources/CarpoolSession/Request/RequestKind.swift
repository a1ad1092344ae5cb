/// What is done with the bodies of a request.
public enum RequestKind: String, Sendable {
    /// The response's body is kept with the request.
    case data
    /// Like `data`, for a request that sends a body; the default method is POST (UP-02).
    case upload
    /// The response's body is passed to the readers as it arrives; nothing of it is kept (ST-01).
    case stream
    /// The response's body is written to a file (DL-01).
    case download

    /// Whether the response usually takes long, so that the request should not share its connection.
    var isLong: Bool { self == .stream || self == .download }
}
