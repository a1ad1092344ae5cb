public import CarpoolJSON

// The parameters that sessions and requests have in common.
extension AnyParameter {
    /// Those of a session's configuration, in the order of the pages. A new one goes to the end.
    static let sharedParameters: [AnyParameter] = [
        .start, .setup, .interceptor, .validate, .trust, .timeout, .resourceTimeout, .connectTimeout,
        .waitsForConnectivity, .httpVersion, .urlEncoding, .redirect, .decode, .maximumRatio, .maximumBodyBytes,
        .tls, .addresses, .clientCertificate, .proxy, .connectionsPerHost,
    ]

    /// When requests are started.
    public static let start = Parameter<String>(
        "start", .start, "When a request starts. `immediate`: at once. `manual`: with `request.resume`.",
        default: "immediate", isInherited: true)
    /// When requests to send are made.
    public static let setup = Parameter<String>(
        "setup", .setup,
        "When the request to send is made. `lazy`: when the request starts. `eager`: at once, adapters included.",
        default: "lazy", isInherited: true)
    /// Adapters and retriers.
    public static let interceptor = Parameter<JSON>(
        "interceptor", .interceptor,
        "Adapters and retriers, in order. Those of a session run before those of its requests.", otherwise: "none")
    /// The validators.
    public static let validate = Parameter<JSON>(
        "validate", .validation, "Which responses are acceptable; others fail the request.", default: "false",
        isInherited: true)
    /// The verification of certificates.
    public static let trust = Parameter<JSON>(
        "trust", .trust, "How the server's certificate is verified.", default: "\"system\"", isInherited: true)
    /// The versions and ciphers of TLS.
    public static let tls = Parameter<JSON>(
        "tls", .tls, "The versions and ciphers of TLS.", otherwise: "TLS 1.2 and 1.3", isInherited: true)
    /// How hosts are reached.
    public static let addresses = Parameter<JSON>(
        "addresses", .addresses, "How hosts are reached. A request's own replace those of its session.",
        otherwise: "at the addresses of their names", isInherited: true)
    /// The certificate with which the client authenticates.
    public static let clientCertificate = Parameter<JSON>(
        "client_certificate", .clientCertificate,
        "The certificate that is presented to servers that ask for one. It is never returned.", otherwise: "none",
        isInherited: true)
    /// The proxies.
    public static let proxy = Parameter<JSON>(
        "proxy", .proxy,
        "The proxies through which hosts are reached. A request's own replace those of its session; `{}` is none.",
        otherwise: "none", isInherited: true)
    /// The idle timeout.
    public static let timeout = Parameter<Int>(
        "timeout_ms", .duration, "The longest time without a byte in either direction.", default: 60_000,
        isInherited: true)
    /// The timeout of the whole request.
    public static let resourceTimeout = Parameter<Int>(
        "resource_timeout_ms", .duration, "The longest time from start to end, with waiting, redirects and retries.",
        default: 604_800_000, isInherited: true)
    /// The timeout of connecting.
    public static let connectTimeout = Parameter<Int>(
        "connect_timeout_ms", .duration, "The longest time to resolve, connect and negotiate TLS.", default: 60_000,
        isInherited: true)
    /// Whether requests wait for connectivity.
    public static let waitsForConnectivity = Parameter<Bool>(
        "waits_for_connectivity", .boolean,
        """
        Whether a request waits until its host is reachable, instead of failing with `not_connected_to_internet`. Only \
        `resource_timeout_ms` runs meanwhile.
        """, default: false, isInherited: true)
    /// The versions of HTTP.
    public static let httpVersion = Parameter<String>(
        "http_version", .httpVersion, "The versions of HTTP that may be used.", default: "auto", isInherited: true)
    /// The handling of characters that are invalid in a URL.
    public static let urlEncoding = Parameter<String>(
        "url_encoding", .urlEncoding, "The handling of characters that are invalid in a URL.", default: "percent",
        isInherited: true)
    /// The handling of redirects.
    public static let redirect = Parameter<JSON>(
        "redirect", .redirect, "The handling of redirects.", default: "\"follow\"", isInherited: true)
    /// Whether bodies are decoded: a boolean or ``decodeUnlessFile``.
    public static let decode = Parameter<JSON>(
        "decode", .oneOf(.boolean, .choice(decodeUnlessFile)),
        """
        Whether br, gzip and deflate are requested, and encoded bodies are decoded. `unless_file`: a compressed file whose own \
        format is named as its coding, such as `a.tar.gz` with `Content-Encoding: gzip`, stays as it is; a download requests no \
        coding, and decodes one that was applied nevertheless.
        """, default: "true", isInherited: true)
    /// The value of ``decode`` that leaves compressed files as they are.
    public static let decodeUnlessFile: StaticString = "unless_file"
    /// The most decoded bytes per received byte.
    public static let maximumRatio = Parameter<Int>(
        "max_ratio", .integer(1...1_000_000),
        "The most decoded bytes per received byte, once more than 1 MiB is decoded.", default: 200, isInherited: true)
    /// The most bytes of a response's body.
    public static let maximumBodyBytes = Parameter<Int>(
        "max_body_bytes", .integer(0...Int64.max),
        """
        The most bytes of the response's body, decoded; 0 accepts no body. A larger one fails the request with \
        `response_too_large`: before the body if `Content-Length` says so and the body is not encoded, otherwise as soon as the \
        limit is exceeded. A download counts the bytes that it resumes from, and its partial file is removed.
        """, otherwise: "no limit", isInherited: true)
    /// The most connections of a client to a host.
    public static let connectionsPerHost = Parameter<Int>(
        "connections_per_host", .integer(1...256),
        """
        The most HTTP/1.1 connections of the client to one host while requests with this setting wait or run, and the same for \
        streams and downloads; at most half of `limits.host_connections`. Of several settings the largest holds.
        """, otherwise: "`limits.host_connections_per_client`: 6", isInherited: true)
}

extension CommandOption {
    /// `--max-filesize`
    public static let maximumBodyBytes = CommandOption(
        "--max-filesize", takes: "BYTES", "fail if the body is larger, decoded, or the file"
    ) { .maximumBodyBytes }
}
