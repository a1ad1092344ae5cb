internal import CarpoolJSON

// The response record and its parts.
extension JSONSchema {
    /// The record of a request.
    static let record = JSONSchema.named(
        "ResponseRecord",
        .answer([
            .required("request", .requestName, "The request's name."),
            .required("state", .requestState, "The state of the request."),
            .optional("sub", .string, "The subscription to its events, if the call has `events`."),
            .optional(
                "finished", .boolean,
                "false while the request is running; then the record has at most the head of its response."),
            .optional("held", .constant(true), "The body waits: `request.resume` receives it."),
            .optional("retry_count", .count, "The number of retries so far."),
            .optional("outcome", outcome, "Whether there is a response, whatever its status, or the failure."),
            .optional("response", responseHead.nullable, "The last response's head; null if there was none."),
            .optional("raw_heads", text, "The heads that `response_body.heads` asks for, if nothing was written."),
            .optional(
                "raw_connect_heads", text,
                "The answers of a proxy to CONNECT that `response_body.connect_heads` asks for, if nothing was written."
            ),
            .optional(
                "raw_trailers", text,
                "The fields after the body as they were received, if `response_body.heads` asks for them."),
            .optional(
                "heads_truncated", .constant(true), "There were more lines of raw heads or trailers than fit the line."),
            .optional("body", responseBody, "The response's body, decoded."),
            .optional("metrics", metricsSummary.nullable, "The request as a whole; null if nothing was sent."),
            .optional("attempts", .array(of: attempt), "The attempts to send the request; not in short records."),
            .optional("method", .string, "The method of the last attempt; in short and full records only."),
            .optional("url", .string, "The URL of the last attempt, before redirects; in short and full records only."),
            .optional(
                "redirects", .array(of: responseHead),
                "The responses that the last attempt followed, with the fields `Location` and `Set-Cookie`; in short and full records only."
            ),
            .optional("truncated", .constant(true), "There were more attempts than fit the line; these are the last."),
            .optional("received_bytes", .count, "The received bytes of the body of a running request, decoded."),
            .optional(
                "total_bytes", .count, "The size of the whole body, if the origin sends it and the body is not encoded."
            ),
            .optional("sent_bytes", .count, "The sent bytes of the body of a running request, if it has one."),
            .optional("sent_total_bytes", .count, "The length of the body that is sent, if it is known."),
            .optional("resume_data", .string, "The token from which another download continues this one."),
            .optional("resumed_at_bytes", .count, "The offset at which a download was resumed."),
            .optional(
                "restarted",
                .choice(
                    "resource_changed", "range_ignored", "range_mismatch", "validator_missing", "partial_file_lost",
                    "partial_file_changed"),
                "Why a download was not resumed, and began again."),
            .optional(
                "cookies",
                .answer([
                    .optional("text", .string, "The cookies as the content of a cookie file."),
                    .optional("list", .array(of: .exportedCookie), "The cookies as objects."),
                    .optional(
                        "changes", .array(of: .exportedCookie),
                        "The new and the changed cookies, and those that were removed, whose `expires` is in the past."),
                    .optional("left_out", .count, "How many did not fit the line: see `cookies.export`."),
                ]), "The request's own jar at its end, if `cookies.export` asks for it."),
            .optional(
                "cache", cacheOutcome,
                "What the cache did for the last hop; absent if the session has no cache, or nothing was sent."),
            .optional(
                "warning", .string,

                """
                A likely mistake: a retry policy without validation, a body whose coding is not known, or a \
                credential for which the server offers no scheme.
                """),
            .optional("timeline", timeline, "The times of the steps; in whole records only."),
        ]))

    /// The state of a request.
    static let requestState = JSONSchema.choice("initialized", "resumed", "suspended", "finished", "cancelled")

    private static let outcome = JSONSchema.named(
        "Outcome",
        .answer([
            .required(
                "ok", .boolean,
                "Whether there is a response and no failure. A response with status 404 is ok: look at `response.status`."
            ),
            .optional("error", requestError, "The failure."),
            .optional("value", .any, "The value of the first serializer."),
            .optional("values", .array(of: serialized), "The value of each serializer, if there are several."),
            .optional("truncated", .constant(true), "The value did not fit the line; the body has all bytes."),
        ]))

    private static let serialized = JSONSchema.named(
        "SerializedResponse",
        .answer([
            .required(
                "serializer", .string, "The serializer: `none`, `data`, `string`, `json`, `plist` or `callback`."),
            .required("ok", .boolean, "Whether there is a value."),
            .required("duration_us", .count, "The time that it took, in microseconds."),
            .optional("value", .any, "The value."),
            .optional("error", requestError, "The failure."),
            .optional("truncated", .constant(true), "The value did not fit the line."),
        ]))

    private static let timeline = JSONSchema.named(
        "Timeline",
        .answer([
            .optional("request_start", .time, "The first attempt began."),
            .optional("initial_response", .time, "The last attempt's response began to arrive."),
            .optional("request_completed", .time, "The last attempt ended."),
            .optional("serialization_completed", .time, "The last serializer ended."),
            .optional("latency_us", .count, "From the start to the first byte of the response."),
            .optional("request_duration_us", .count, "From the start to the end of the last attempt."),
            .optional("serialization_duration_us", .count, "The time of the serializers."),
            .optional("total_duration_us", .count, "From the start to the end of the last serializer."),
        ]))

    /// Why a request failed.
    static let requestError = JSONSchema.named(
        "RequestError",
        .answer([
            .required("code", .integer, "2000 for all failures; `name` identifies them."),
            .required("name", .string, "The documented identity, like `session_task_failed.timed_out`."),
            .required("message", .string, "One line for users."),
            .required(
                "retryable", .boolean, "Whether the same request may succeed later and is safe to send again."),
            .optional("hint", .string, "How to correct the error."),
            .optional(
                "url_error_code", .integer, "The number of the same failure in URLError, as in `retry_policy.codes`."),
            .optional("timeout", .choice("queue", "connect", "idle", "body", "resource"), "The timeout that expired."),
            .optional(
                "queued", .constant(true), "The request waited in the queue when it timed out; nothing was sent."),
            .optional("position", .count, "Its position in the queue of its client then; 1 is the next."),
            .optional(
                "waited_for", .choice("host", "client", "total", "lookups"),
                "What was all in use: the connections to its host, of its client, or in total, or the look-ups of names of its process."
            ),
            .optional(
                "curl",
                .answer([
                    .required("code", .integer, "libcurl's error code."),
                    .optional("text", .string, "libcurl's text."),
                ]), "libcurl's error."),
            .optional("errno", .integer, "The kernel's error number, see errno(3)."),
            .optional(
                "details", .map(of: .any),
                "More about the failure, by name: numbers, texts, lists of texts, and causes, which are errors too."
            ),
        ]))

    /// Status and header fields.
    static let responseHead = JSONSchema.named(
        "ResponseHead",
        .answer([
            .required("status", .integer(100...999), "The status code."),
            .required("http_version", .string, "`http/1.0`, `http/1.1` or `h2`."),
            .required(
                "headers", .array(of: .array(of: text, count: 2...2)), "`[name, value]` in the order of arrival."),
            .optional("truncated", .constant(true), "There were more fields than fit the line."),
            .optional("url", .string, "The URL of the response, after redirects."),
        ]))

    private static let size = Member.required("size_bytes", .count, "The size of the decoded body.")
    private static let hash = Member.optional(
        "sha256", .string, "The SHA-256 of the body in hexadecimal digits, if it was requested.")

    private static let responseBody = JSONSchema.named(
        "ResponseBody",
        .oneOf(
            .answer([.required("text", .string, "The body, if it is UTF-8 and fits the line."), size, hash]),
            .answer([.required("base64", .string, "The body, if it is not UTF-8 and fits the line."), size, hash]),
            .answer([
                .required("file", .string, "A file with the whole body, readable by the daemon's user."), size, hash,
                .optional(
                    "expires", .time,
                    "When it is removed, unless `body.release` or `request.dismiss` removes it before."),
            ]),
            .answer([
                .required("fd", .constant(true), "The body was written to the descriptor of `response_body`."),
                .required("size_bytes", .count, "The bytes that were written."), hash,
            ]),
            .answer([.required("none", .constant(true), "There is no body, or an empty one."), size, hash]),
            .answer([.required("gone", .constant(true), "The body was released, or its retention ended."), size, hash]))
    )

    private static let metricsSummary = JSONSchema.named(
        "MetricsSummary",
        .answer([
            .required("start", .time, "When the first attempt began."),
            .required("duration_us", .integer, "The time from `start` to the end, in microseconds."),
            .required("attempts", .count, "The number of attempts."),
            .required("redirects", .count, "The number of redirects that were followed."),
            .required("reused", .boolean, "Whether the last hop reused a connection."),
            .optional(
                "resource_fetch_type", resourceFetchType,
                "Where the response came from; absent if the session has no cache."),
        ]))

    /// Fields as pairs.
    static let pairs = JSONSchema.array(of: .array(of: text, count: 2...2))

    private static let attempt = JSONSchema.named(
        "Attempt",
        .answer([
            .optional(
                "request",
                .answer([
                    .required("method", .string, "The method of the first hop."),
                    .required("url", .string, "The URL of the first hop."),
                    .optional("headers", pairs, "Its fields; in whole records only."),
                    .optional("truncated", .constant(true), "There were more fields than fit the line."),
                ]), "The request that was sent."),
            .optional("response", responseHead, "The final response of the attempt; in whole records only."),
            .optional("error", .string, "The name of the error that ended the attempt."),
            .required("metrics", .array(of: hop), "One for each hop: the first request, then one for each redirect."),
            .optional("truncated", .constant(true), "There were more hops than fit the line; these are the last ones."),
        ]))

    /// One hop of an attempt.
    static let hop = JSONSchema.named(
        "Hop",
        .answer(
            [
                .optional("url", .string, "The URL of the hop."),
                .optional("status", .integer, "The status of its response."),
            ] + hopMetrics + [
                .optional(
                    "cookies", .array(of: .string),
                    "The names of the cookies that were sent from a jar, in order; in records only."),
                .optional("cache", cacheOutcome, "What the cache did for the hop; in records only."),
            ]))

    private static let microseconds = JSONSchema.integer.nullable

    /// The metrics of one hop.
    private static let hopMetrics: [Member] = [
        .required("fetch_start", .time, "The beginning of the hop; the times below are relative to it."),
        .required("queued_us", .integer, "The time in the queue."),
        .required("dns_us", microseconds, "The name was resolved; null on a reused connection."),
        .required("connect_us", microseconds, "The connection was made; null on a reused one."),
        .required("tls_us", microseconds, "TLS was negotiated; null without TLS and on a reused connection."),
        .required("request_us", microseconds, "The request began to be sent."),
        .required("first_byte_us", microseconds, "The first byte of the response was received."),
        .required("end_us", .integer, "The hop ended."),
        .required("reused", .boolean, "Whether the connection was reused."),
        .optional(
            "new_connection", .choice("first", "busy", "settings", "kind", "required"),
            """
            Why a connection was made. `first`: none to the origin was open. `busy`: the open ones were in use. `settings`: they were \
            made with other trust, TLS, client certificate, addresses, proxy or `Host`. `kind`: they are for another version of HTTP, or \
            for streams and downloads. `required`: the request needed a new one.
            """),
        .required(
            "connection", .integer.nullable, "The connection's number, as in pool events; null if there was none."),
        .optional("http_version", .string, "The version of HTTP."),
        .optional(
            "tls",
            .answer([
                .required("version", .string, "The version of TLS."), .optional("cipher", .string, "The cipher suite."),
                .optional(
                    "client_certificate", .shownCertificate, "The client certificate, if the server asked for it."),
                .optional("verified", .constant(false), "Any server would have been accepted."),
            ]), "The TLS session."),
        .optional(
            "verify_result", .integer,
            """
            What was wrong with the server's certificate, also where that is ignored: OpenSSL's number (`X509_V_ERR_...`), or 1 if it was not \
            verified, such as for a name that does not fit; absent for 0.
            """),
        .optional("proxy_verify_result", .integer, "The same of the certificate of an HTTPS proxy."),
        .optional(
            "certificates", .array(of: .array(of: .string)),
            """
            The server's certificates, its own first, if `certificates` asks for them: lines `NAME:VALUE` as libcurl writes them; the one of \
            `Cert` is in PEM.
            """),
        .optional(
            "connect_status", .integer,
            "The status of the proxy's answer to CONNECT, for whichever request the tunnel was made."),
        .optional("proxy", .string, "The URL of the proxy, without user and password."),
        .optional("remote", .string, "The address and port of the other end, which is the proxy if there is one."),
        .optional("local", .string, "The address and port of this end."),
        .required("request_header_bytes", .count, "The request's head as sent."),
        .required("request_body_bytes", .count, "The request's body as sent."),
        .required("response_header_bytes", .count, "The response's head as received."),
        .required("response_body_bytes", .count, "The response's body as received, before decoding."),
        .required("decoded_body_bytes", .count, "The response's body after decoding."),
    ]
}

/// Records for examples; a test validates them with the schemas.
enum RecordExamples {
    /// A finished request.
    static let finished = """
        {"request":"r_k3f9_1a","state":"finished","outcome":{"ok":true},"response":{"status":200,"http_version":"h2",\
        "headers":[["content-type","text/plain"],["content-length","6"]],"url":"https://example.com/hello"},\
        "body":{"text":"hello\\n","size_bytes":6},"metrics":{"start":"2026-09-30T10:00:00.123456Z","duration_us":1412,\
        "attempts":1,"redirects":0,"reused":true},"attempts":[{"request":{"method":"GET",\
        "url":"https://example.com/hello"},"metrics":[{"url":"https://example.com/hello","status":200,\
        "fetch_start":"2026-09-30T10:00:00.123456Z","queued_us":3,"dns_us":null,"connect_us":null,"tls_us":null,\
        "request_us":88,"first_byte_us":1301,"end_us":1412,"reused":true,"connection":1,"http_version":"h2",\
        "remote":"192.0.2.7:443","local":"192.0.2.1:51234","request_header_bytes":61,"request_body_bytes":0,\
        "response_header_bytes":98,"response_body_bytes":6,"decoded_body_bytes":6}]}]}
        """

    /// A whole record.
    static let whole = """
        {"request":"r_k3f9_1a","state":"finished","outcome":{"ok":true,"value":"hello\\n"},"response":{"status":200,\
        "http_version":"h2","headers":[["content-type","text/plain"]],"url":"https://example.com/hello"},\
        "body":{"text":"hello\\n","size_bytes":6},"metrics":null,"attempts":[],"timeline":{\
        "request_start":"2026-09-30T10:00:00.123456Z","initial_response":"2026-09-30T10:00:00.124757Z",\
        "request_completed":"2026-09-30T10:00:00.124868Z","serialization_completed":"2026-09-30T10:00:00.124871Z",\
        "latency_us":1301,"request_duration_us":1412,"serialization_duration_us":3,"total_duration_us":1415}}
        """

    /// A running request.
    static let underWay = #"{"request":"r_k3f9_1a","state":"resumed","finished":false}"#
}
