/// What becomes of the bodies of a request.
public enum RequestKind: String, Sendable {
    /// The response's body is kept with the request.
    case data
    /// As `data`; made for what it sends, by POST unless it says otherwise (UP-02).
    case upload
    /// Whoever reads gets the response's body as it comes; nothing of it is kept (ST-01).
    case stream
    /// The response's body goes to a file (DL-01).
    case download

    /// Whether the response takes long by its nature, so that its connection should be nobody else's.
    var isLong: Bool { self == .stream || self == .download }
}
