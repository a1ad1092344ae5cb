/// Which versions of HTTP a request may speak.
public enum HTTPVersionPolicy: String, Sendable, Hashable {
    /// HTTP/2 where TLS agrees on it and the library's version is fit for it, else HTTP/1.1.
    case automatic = "auto"
    /// HTTP/1.1 only.
    case http1 = "1.1"
    /// HTTP/2 where TLS agrees on it, also with a library that is not fit for many streams on a connection (one stream each, then).
    case http2 = "2"
}
