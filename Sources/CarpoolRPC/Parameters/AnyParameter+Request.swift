public import CarpoolJSON

// The parameters of `request.submit` and `request.perform`.
extension AnyParameter {
    /// All of them, in the order in which an array holds them. New ones of ``sharedParameters`` come last.
    static func requestParameters(onDisconnect: AnyParameter) -> [JSONSchema.Member] {
        var all: [AnyParameter] = [
            .url, .method, .headers, .body, .expectContinue, .parameters, .encoding, .session, .kind, .destination,
            .resumeData, .cancelOnStreamError, .start, .setup, .holdForHeaders, .interceptor, .validate, .serialize,
            .credential, .credentials, .authenticate, .trust, .timeout, .resourceTimeout, .queueTimeout, .priority,
            .connectTimeout,
            .waitsForConnectivity, .httpVersion, .urlEncoding, .redirect, .decode, .maximumRatio, .responseBody,
            .sha256, .events,
            onDisconnect, .key, .tags,
        ]
        all.append(.cookies)
        let last: [AnyParameter] = [.cache, .defaultHeaders, .connectionsPerHost, .certificates, .bodyAfterChallenge]
        for parameter in sharedParameters where !(all + last).contains(where: { $0 === parameter }) {
            all.append(parameter)
        }
        all += last
        return all.map(\.requestMember)
    }

    /// The user and the password.
    public static let credential = Parameter<JSON>(
        "credential", .credential,
        """
        The user and the password for the origin of the URL: a challenge (401) is answered once, and not shown as a response. Not \
        sent to other origins.
        """, otherwise: "none")

    /// Users and passwords by host.
    public static let credentials = Parameter<JSON>(
        "credentials", .hostCredentials,
        """
        Users and passwords by host, for this request and its redirects: the first one that is for the host of a hop is used there, if \
        `credential` is not.
        """, otherwise: "none")
    /// The request's own jar of cookies.
    public static let cookies = Parameter<JSON>(
        "cookies", .requestCookies,
        """
        A jar of this request and its redirects alone; the jar of the session is neither used nor changed. `{}` is an empty one.
        """, otherwise: "the jar of the session, if it has one")

    /// How stored responses are used.
    public static let cache = Parameter<JSON>(
        "cache", .requestCache,
        "How the store of the session is used, in place of what the session says. A session without one refuses all but `no_store`, unless the configuration file turns all caches off.",
        otherwise: "the session's")

    /// The client that decides about challenges.
    public static let authenticate = Parameter<JSON>(
        "authenticate", .authenticate,
        """
        A client that decides how challenges of the server, and of an HTTP proxy that gets the request as it is, are answered: see \
        `callback.authenticate`.
        """, otherwise: "with `credential`, `credentials` and those of the session")

    // MARK: What is sent

    /// The URL.
    public static let url = Parameter<String>(
        required: "url", .string(maxBytes: 65_536), "An absolute URL, `http` or `https`.")
    /// The method.
    public static let method = Parameter<String>(
        "method", .string(maxBytes: 64), "Any HTTP method except CONNECT.", otherwise: "`GET`; `POST` for an upload")
    /// The header fields.
    public static let headers = Parameter<JSON>(
        "headers", .headers,
        """
        Header fields, in order. The daemon sets `Content-Length` and the fields of a connection itself. A `Host` other than \
        the URL's is sent to the URL's host, over a connection that only requests with the same one share.
        """,
        otherwise: "none")
    /// Whether fields are added to the caller's.
    public static let defaultHeaders = Parameter<Bool>(
        "default_headers", .boolean,
        """
        Whether the daemon adds its own fields and those of the session. Without them the request has those of `headers` alone, in their \
        order, and what HTTP requires; `headers` may then have the fields of a connection too, and names with a colon at their end, whose \
        values are sent over HTTP/1.1 as they are, without a blank behind the colon that they do not have. The value of `Content-Length` is always the \
        length of the body, and `Transfer-Encoding` must be `chunked`.
        """, default: true)
    /// The body.
    public static let body = Parameter<JSON>("body", .requestBody, "The request's body.", otherwise: "none")
    /// Whether the body waits for 100 Continue.
    public static let expectContinue = Parameter<Bool>(
        "expect_continue", .boolean,
        """
        Whether the request sends `Expect: 100-continue` and waits for the answer before the body. Costs a round trip, or a \
        second if the server does not answer. Without `default_headers` only over HTTP/1.1, and for a body of more than 1 MiB or of an \
        unknown length.
        """, default: false)
    /// The servers whose challenge comes before the body.
    public static let bodyAfterChallenge = Parameter<JSON>(
        "body_after_challenge", .array(of: .choice("origin", "proxy"), count: 0...2),
        """
        The servers that get the body only with an answer to their challenge: before that requests have an empty one, as curl does for \
        Digest. Any other response with a status below 300 leads to the request with its body. `proxy`: one that gets the request as it is.
        """, otherwise: "none")
    /// Values to encode.
    public static let parameters = Parameter<JSON>(
        "parameters", .any,
        """
        Values that `encoding` puts into the query or the body. An object keeps the order of its members; `{"$data": "<base64>"}` is \
        bytes, `{"$date": <seconds since 1970>}` a point in time. null is the same as none.
        """, otherwise: "none")
    /// The encoding of the values.
    public static let encoding = Parameter<JSON>(
        "encoding", .encoding, "How `parameters` are encoded.", default: "\"form\"")

    // MARK: What it is

    /// The session.
    public static let session = Parameter<String>(
        "session", .sessionName, "The session that the request belongs to.", default: "default")
    /// The kind of request.
    public static let kind = Parameter<String>(
        "kind", .choice("data", "upload", "download", "stream"),
        """
        `data`: the record holds the response's body. `upload`: the same, with the events of uploads. `download`: the body \
        goes to a file. `stream`: readers receive the body as it arrives: see `request.read` and `request.attach`.
        """, otherwise: "`upload` if the body is `stream`, `multipart`, `fd` or `callback`, otherwise `data`")
    /// The destination of a download.
    public static let destination = Parameter<JSON>(
        "destination", .destination, "Where a download is stored.",
        otherwise: "the destination in `resume_data`, otherwise a file of the spool")
    /// The token of an earlier download.
    public static let resumeData = Parameter<String>(
        "resume_data", .string(maxBytes: 98_304),
        "The token of an earlier download that this one continues, from its record or from an event.", otherwise: "none"
    )
    /// Whether a reader's failure ends a stream.
    public static let cancelOnStreamError = Parameter<Bool>(
        "cancel_on_stream_error", .boolean,
        "For `stream`: whether the first failure of a reader, such as a line that is not JSON, cancels the request.",
        default: false)
    /// Whether the body is held until the client has the head.
    public static let holdForHeaders = Parameter<Bool>(
        "hold_for_headers", .boolean,
        """
        Whether the call answers with the head, and the body waits: `request.resume` receives it, `request.cancel` ends \
        the request, `request.wait` returns the whole record. There is one such head: that of the first response whose \
        status no retry policy retries.
        """, default: false)

    // MARK: What happens to the response

    /// The serializers.
    public static let serialize = Parameter<JSON>(
        "serialize", .serialization, "Which values are made of the body; the record holds the body if there are none.",
        otherwise: "none")
    /// Whether the body is inline or a file.
    public static let responseBody = Parameter<JSON>(
        "response_body", .responseOutput, "Where the body goes.", default: "\"auto\"")
    /// How much the record has.
    public static let detail = Parameter<String>(
        "detail", .choice("short", "standard", "full"),
        """
        How much the record has. `short`: no `attempts`, but `method`, `url` and `redirects`. `full`: these, and the fields of all requests and \
        responses and the timeline too, as `request.response` returns.
        """, default: "standard")
    /// Whether the body is hashed.
    public static let sha256 = Parameter<Bool>(
        "sha256", .boolean, "Whether the record has the SHA-256 of the body as it is in the record or the file.",
        default: false)

    /// Whether the record describes the server's certificates.
    public static let certificates = Parameter<Bool>(
        "certificates", .boolean,
        """
        Whether each hop of the record has what is known of the server's certificates. The request uses a connection that was made for such \
        a request, or a new one.
        """, default: false)

    // MARK: When it is sent

    /// The timeout of waiting for a connection.
    public static let queueTimeout = Parameter<Int>(
        "queue_timeout_ms", .duration,
        "The longest time to wait for a connection. After it the request fails with `session_task_failed.timed_out` and `queued`.",
        otherwise: "no limit but `resource_timeout_ms`")
    /// The order among waiting requests.
    public static let priority = Parameter<String>(
        "priority", .priority,
        """
        The order among requests that wait for the same origin: `high` before `normal` before `low`; the lower ones still \
        receive a share of the connections.
        """, default: "normal")

    // MARK: Its events and its name

    /// The subscription to its events.
    public static let events = Parameter<JSON>(
        "events",
        .object([
            .types,
            .optional(
                "progress_interval_ms", .progressInterval, "The least time between two progress events.", default: "0"),
        ]),
        """
        Sends this request's events on this connection, from the first to the last, and then `subscription.closed`; the \
        answer has the name of the subscription. The events of `request.submit` come after its answer, those of \
        `request.perform` before.
        """, otherwise: "none")
    /// The effect of a lost connection, with `request.submit`.
    static let onDisconnectOfSubmit = onDisconnect(default: "detach")
    /// The same with `request.perform`.
    static let onDisconnectOfPerform = onDisconnect(default: "cancel")
    /// The caller's name for the request.
    public static let key = Parameter<String>(
        "key", .string(maxBytes: 256),
        "The caller's own name for the request. A second call with the same key and parameters returns the same request.",
        otherwise: "none")
    /// Labels.
    public static let tags = Parameter<JSON>(
        "tags", .map(of: .string(maxBytes: 128), maxCount: 8), "Labels for `request.list`.", default: "{}")

    private static func onDisconnect(default standard: String) -> Parameter<String> {
        Parameter(
            "on_disconnect", .choice("cancel", "detach"),
            "Whether the request is cancelled or continues when its caller's connection is lost.", default: standard)
    }
}
