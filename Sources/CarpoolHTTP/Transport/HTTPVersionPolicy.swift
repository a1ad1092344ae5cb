/// The versions of HTTP that a request may use.
public enum HTTPVersionPolicy: String, Sendable, Hashable {
    /// HTTP/2 where TLS negotiates it and the version of libcurl is fit for it, otherwise HTTP/1.1.
    case automatic = "auto"
    /// HTTP/1.1 only.
    case http1 = "1.1"
    /// HTTP/2 where TLS negotiates it, also with a version of libcurl that is unfit for several streams per
    /// connection (one stream each, then).
    case http2 = "2"
}
