internal import CarpoolJSON

// Interceptors: adapters and retriers.
extension JSONSchema {
    /// The interceptors of a session or a request, in order.
    static let interceptor = JSONSchema.named("Interceptor", .array(of: interceptorElement, count: 0...32))

    private static let interceptorElement = JSONSchema.named(
        "InterceptorElement",
        .oneOf(
            .choice("retry_policy", "connection_lost", "offline", "compress").described(
                "The interceptor of that name with its defaults."),
            .object([.required("set_header", setHeader, "Sets a header field.")]),
            .object([.required("rewrite", rewrite, "Replaces parts of the URL.")]),
            .object([
                .required(
                    "basic_auth",
                    .object([
                        .required("username", .string(maxBytes: 1_024), "No colon."),
                        .required("password", .string(maxBytes: 4_096), "The password."),
                    ]), "`Authorization: Basic`, in UTF-8 (RFC 7617).")
            ]),
            .object([
                .required(
                    "bearer", .object([.required("token", .string(maxBytes: 16_384), "No blanks.")]),
                    "`Authorization: Bearer` (RFC 6750).")
            ]),
            .object([.required("retry_policy", retryPolicy, "Retries temporary failures.")]),
            .object([.required("connection_lost", connectionLost, "Retries when a connection is lost.")]),
            .object([.required("offline", offline, "Waits for the network and retries.")]),
            .object([
                .required(
                    "oauth2", oauth2,
                    "Sends an access token, and obtains or refreshes it once for all requests that wait.")
            ]),
            .object([.required("compress", .compress, "Compresses the request's body.")]),
            .object([
                .required(
                    "callback", .interceptorCallback, "A client decides, see `callback.adapt` and `callback.retry`.")
            ])))

    private static let setHeader = JSONSchema.object([
        .required("name", .string(maxBytes: 256), "The field's name."),
        .required("value", .string(maxBytes: 16_384), "Its value."),
        .optional(
            "mode", .choice("replace", "append", "if_absent"),
            "What happens to existing fields with this name.", default: "\"replace\""),
    ])

    private static let rewrite = JSONSchema.object([
        .optional("scheme", .choice("http", "https"), "Sets the port of the scheme too, unless `port` is given."),
        .optional("host", .string(maxBytes: 255), "A host without port; an IPv6 address in brackets."),
        .optional("port", .integer(1...65_535), "The port."),
        .optional("path_prefix", .string(maxBytes: 4_096), "The prefix of the path, such as `/v2`."),
        .optional(
            "query",
            .object([
                .required(
                    "set", .map(of: .string(maxBytes: 8_192), maxCount: 64),
                    "Values by name; each replaces all pairs of its name, and is put at the end. They are percent-encoded."
                )
            ]), "The query's pairs."),
    ])

    // MARK: Retries

    private static let delays: [Member] = [
        .optional("limit", .integer(0...1_000), "The maximum number of retries.", default: "2"),
        .optional(
            "base", .integer(2...1_000), "The factor by which the delay grows from retry to retry.", default: "2"),
        .optional("scale_ms", .integer(0...2_592_000_000), "The delay before the first retry.", default: "500"),
        .optional(
            "methods", .array(of: .string(maxBytes: 64), count: 0...64), "The methods that may be retried.",
            default: "[\"DELETE\",\"GET\",\"HEAD\",\"OPTIONS\",\"PUT\",\"TRACE\"]"),
        .optional(
            "respect_retry_after", .boolean,
            "Whether retries wait as long as `Retry-After` says, in seconds or as a date.",
            default: "false"),
        .optional(
            "jitter", .number,
            "0 to 1: the random part of the delay. It shortens the delay, but never below `Retry-After`.",
            default: "0"),
        .optional(
            "max_delay_ms", .integer(0...2_592_000_000),
            "The longest delay, also if `Retry-After` is longer. Default: 30 days."),
        .optional(
            "max_back_off_ms", .integer(0...2_592_000_000),
            "The longest delay of the back-off. It does not limit `Retry-After`."),
        .optional(
            "max_elapsed_ms", .integer(0...2_592_000_000),
            "No retry begins later than this after the start of the request. Default: no limit."),
    ]

    private static let retryPolicy = JSONSchema.object(
        delays + [
            .optional(
                "statuses", .array(of: .integer(100...999), count: 0...100),
                """
                The statuses of responses that are retried. Default: 408, 500, 502, 503 and 504, and with \
                `respect_retry_after` 429 too.
                """),
            .optional(
                "codes", .array(of: .oneOf(.string(maxBytes: 64), .integer(-10_000 ... -1)), count: 0...100),
                """
                The failures of the network that are retried, by the name of the URL error, such as \
                `timed_out`, or by its number, such as -1001. Default: temporary failures.
                """),
            .optional(
                "all_failures", .boolean,
                "Whether every failure of the network and every status of 400 or more is retried.",
                default: "false"),
            .optional(
                "without_validation", .boolean,
                "Whether a response with one of the statuses is retried although no validator refuses it.",
                default: "false"),
        ])

    private static let connectionLost = JSONSchema.object(delays)

    private static let offline = JSONSchema.object([
        .optional("wait_ms", .integer(0...3_600_000), "The longest time to wait for the network.", default: "5000"),
        .optional(
            "codes", .array(of: .oneOf(.string(maxBytes: 64), .integer(-10_000 ... -1)), count: 0...100),
            "The failures that mean that nothing was sent, by name or number of the URL error.",
            default: "[\"not_connected_to_internet\"]"),
        .optional(
            "methods", .array(of: .string(maxBytes: 64), count: 0...64),
            "The methods that are retried, once, when the network was lost during the request.",
            default: "[\"DELETE\",\"GET\",\"HEAD\",\"OPTIONS\",\"PUT\",\"TRACE\"]"),
    ])

    // MARK: Credentials

    /// A credential of OAuth 2.0.
    static let oauth2Credential = JSONSchema.named(
        "OAuth2Credential",
        .object([
            .required("access_token", .string(maxBytes: 16_384), "The access token. No blanks."),
            .optional(
                "refresh_token", .string(maxBytes: 16_384), "The token with which a new access token is requested."),
            .optional(
                "expires_in_ms", .integer(0...3_155_760_000_000),
                "How long the access token is valid from now on. Default: until it is refused."),
        ]))

    private static let oauth2 = JSONSchema.oneOf(oauth2TokenEndpoint, oauth2Callback)

    private static let oauth2TokenEndpoint = JSONSchema.named(
        "OAuth2TokenEndpoint",
        .object(
            [
                .required(
                    "token_url", .string(maxBytes: 65_536),
                    "The token endpoint (RFC 6749). Token requests skip the interceptors and follow no redirect."),
                .optional(
                    "grant", .choice("refresh_token", "client_credentials", "password"),
                    """
                    What a token is requested with. `refresh_token`: that of `credential`. `client_credentials`, `password`: \
                    the client, or `username` and `password`; all requests of the user with the same `oauth2` share the token.
                    """, default: "\"refresh_token\""),
                .optional("client_id", .string(maxBytes: 4_096), "The client's name at the endpoint."),
                .optional("client_secret", .string(maxBytes: 4_096), "The client's password at the endpoint."),
                .optional(
                    "client_auth", .choice("basic", "body"),
                    "Where they are sent: in `Authorization: Basic`, or in the form. Without a secret always in the form. Default: `body` for `refresh_token`, otherwise `basic`."
                ),
                .optional("username", .string(maxBytes: 4_096), "The user, for the grant `password`."),
                .optional("password", .string(maxBytes: 4_096), "The user's password, for the grant `password`."),
                .optional("scope", .string(maxBytes: 4_096), "The scope of the token."),
                .optional(
                    "parameters",
                    .map(
                        of: .oneOf(
                            .string(maxBytes: 4_096), .array(of: .string(maxBytes: 4_096), count: 1...8)),
                        maxCount: 16),
                    "Further parameters of the token request, such as `audience` or `resource`; a list repeats its name."
                ),
                .optional(
                    "headers", .map(of: .string(maxBytes: 16_384), maxCount: 32),
                    "Header fields for the token endpoint."),
            ] + credentials))

    private static let oauth2Callback = JSONSchema.named(
        "OAuth2Callback",
        .object(
            [.required("callback", .refresherCallback, "A client returns the credential, see `callback.refresh`.")]
                + credentials))

    private static let credentials: [Member] = [
        .optional(
            "credential", oauth2Credential.nullable,
            "The first credential, for the grant `refresh_token` and for `callback`. Without one every request fails until `session.set_credential`.",
            default: "null"),
        .optional(
            "refresh_before_ms", .integer(0...2_592_000_000),
            "Refreshes a credential before use if it is valid for less than this time; at most a tenth of its lifetime.",
            default: "300000"),
        .optional(
            "window",
            JSONSchema.object([
                .optional("interval_ms", .integer(1...2_592_000_000), "The length of the window.", default: "30000"),
                .optional("attempts", .integer(0...1_000), "The most refreshes in the window.", default: "5"),
            ]).nullable,
            "Stops refreshing for an origin that refuses every credential; `null`: no limit. The other grants count only tokens that replace refused ones.",
            default: "{\"interval_ms\":30000,\"attempts\":5}"),
        .optional(
            "refresh_timeout_ms", .integer(1...600_000), "The longest time for a refresh.", default: "30000"),
    ]
}
