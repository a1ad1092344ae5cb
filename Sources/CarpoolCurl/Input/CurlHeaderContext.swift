/// What the header fields of a request depend on besides the options.
struct CurlHeaderContext: Equatable {
    /// What the request carries.
    enum Body: Equatable {
        /// GET or HEAD, whatever the method of `-X` is.
        case none
        /// `-d` and the like: the length.
        case data(Int64)
        /// `-F`: the length if it is known, and the value of Content-Type.
        case form(Int64?, contentType: String)
        /// `-T`: the length that is left to send, if it is known.
        case upload(Int64?)

        /// The length; `nil` if it is not known.
        var length: Int64? {
            switch self {
            case .none: 0
            case .data(let length): length
            case .form(let length, _), .upload(let length): length
            }
        }
    }

    /// The lines of `-H`, from ``CurlHeaderLines``.
    var lines: [String] = []
    /// The lines of `--proxy-header` for a proxy that is not a tunnel.
    var proxyLines: [String] = []
    var body = Body.none
    /// The value of Authorization for the origin, if it is sent at once and may go to this host.
    var authorization: String?
    /// The value of Proxy-Authorization for a proxy that is not a tunnel.
    var proxyAuthorization: String?
    /// Whether an HTTP proxy gets the request, and not through a tunnel.
    var usesProxy = false
    /// Whether the lines Authorization and Cookie may go to this host: the first origin, or `--location-trusted`.
    var isTrusted = true
    /// Whether the line Host applies: the host is that of the first request.
    var isFirstHost = true
    /// The referer after redirects; `nil` for none.
    var referer: String?
    /// Where a transfer goes on (`-C`): a positive offset; `nil` for the whole.
    var offset: Int64?
    /// The field of `-z`.
    var timeCondition: CurlHeaderField?
    /// Whether the connection is HTTP/2 or later.
    var isHTTP2 = false
}
