internal import CarpoolJSON

// What a request would do, without sending it.
extension RequestMethods {
    static let explain = Method(
        "request.explain", role: .submit, "Returns the settings of the connection that a request would use.",
        """
        Takes the parameters of `request.perform`, and checks them as it does, but ignores `key` and `after`, and answers while the daemon \
        is draining; nothing is sent and no request is made. So a failing call is explained by the same call with this method. Each setting has a `source`: `request`, `session` \
        or `default`. The settings are those of the first request that would be sent: adapters may change its URL and \
        its fields, and redirects have settings of their own.
        """,
        params: AnyParameter.requestParameters(onDisconnect: .onDisconnectOfPerform) + [
            AnyParameter.detail.requestMember, after,
        ], result: plan,
        errors: [.sessionNotFound] + readingErrors,
        examples: [
            .init(
                "a request with a session's defaults", params: #"{"url":"https://example.com/hello"}"#,
                result: """
                    {"url":"https://example.com/hello","session":"default",\
                    "trust":{"source":"default","authorities":["/etc/ssl/certs/ca-certificates.crt"],"verified":true,\
                    "evaluator":null},"tls":{"source":"default","min_version":"1.2","max_version":"1.3"},\
                    "client_certificate":{"source":"default","certificate":null},\
                    "host":{"source":"default","value":"example.com"},\
                    "addresses":{"source":"default","host":"example.com","port":443},"credential":{"source":"default"},\
                    "cookies":{"source":"default","names":[]},"proxy":{"source":"default"},\
                    "pool":{"settings":[],"sharing":"multiplexed","connections":0,"idle":0}}
                    """)
        ])

    private static let source = JSONSchema.Member.required(
        "source", .choice("request", "session", "default"), "Where it was set; `default`: nowhere.")

    private static let sourceWithEnvironment = JSONSchema.Member.required(
        "source", .choice("request", "session", "environment", "default"), "Where it was set; `default`: nowhere.")

    private static let plan = JSONSchema.named(
        "ConnectionPlan",
        .answer([
            .required("url", .string, "The URL, without user and password."),
            .required("session", .sessionName, "The session."),
            .optional("declared_in", .string, "The configuration file that declares the session."),
            .required("trust", trust.nullable, "How the server is verified; null without TLS."),
            .required("tls", tls.nullable, "The versions and ciphers of TLS; null without TLS."),
            .required(
                "client_certificate", certificate.nullable,
                "The certificate for a server that asks for one; null without TLS."),
            .required(
                "host",
                .answer([source, .required("value", .string, "The `Host` field, or `:authority` in HTTP/2.")]),
                "The host that the server is asked for."),
            .required("addresses", addresses, "Where the connection goes."),
            .required("credential", credential, "The user and the password for the origin."),
            .required("cookies", cookies, "The cookies that would be sent."),
            .required("proxy", proxy, "The proxy through which the connection is made."),
            .required("pool", pool, "The connections that it could share."),
        ]))

    private static let trust = JSONSchema.answer([
        sourceWithEnvironment,
        .required(
            "authorities", .array(of: .string),
            """
            The files of the certificate authorities that decide about the server; `pem` for a text; empty if none do, as with \
            pinned keys without the standard check.
            """),
        .required("verified", .boolean, "Whether the server's certificate is verified."),
        .required(
            "evaluator",
            .answer([
                .required(
                    "kind", .string,
                    "The kind; `missing`: there is none for the host, so that every certificate is refused."),
                .optional("parts", .array(of: .string), "The kinds of evaluators in a composite one."),
                .optional("pattern", .string, "The pattern in `evaluators` that has the host."),
            ]).nullable, "The evaluator of the host; null for the standard check."),
    ])

    private static let tls = JSONSchema.answer([
        source,
        .required("min_version", .string, "The oldest version."),
        .required("max_version", .string, "The newest version."),
        .optional("ciphers", .string, "The ciphers of TLS 1.2 and older. Default: those of OpenSSL."),
        .optional("tls13_ciphers", .string, "The cipher suites of TLS 1.3. Default: those of OpenSSL."),
    ])

    private static let certificate = JSONSchema.answer([
        source, .required("certificate", .shownCertificate.nullable, "The certificate; null for none."),
    ])

    private static let addresses = JSONSchema.answer([
        source,
        .optional("unix_socket", .string, "The Unix socket, alone; empty for a passed one."),
        .optional("host", .string, "The host that is connected to: the URL's, or that of `connect_to`."),
        .optional("port", .integer(0...65_535), "The port that is connected to."),
        .optional("resolve", .array(of: .string), "Its addresses by `resolve`. Default: those that its name has."),
        .optional("interface", .string, "The network interface that is used."),
        .optional("local_address", .string, "The local address that is used."),
        .optional("family", .choice("ipv4", "ipv6"), "The only family of addresses that is used."),
    ])

    private static let credential = JSONSchema.answer([
        source,
        .optional(
            "user", .string, "The user: the request's, or that of the first of `spaces`. Absent: none."),
        .optional("schemes", .array(of: .string), "The schemes that may be used."),
        .optional("preemptive", .boolean, "Whether they are sent before a challenge."),
        .optional(
            "spaces", .array(of: JSONSchema.shownCredential),

            """
            The credentials of the session for the origin, at most 8 of them; the first one that has the challenge's realm is \
            used. `credentials.list` returns all.
            """),
        .optional(
            "own_field", .constant(true),
            "The request has a field `Authorization`, which is sent in place of the credential."),
        .optional(
            "in_url", .constant(true),
            "The URL has a user or a password, which are sent by Basic in place of the credential."),
    ])

    private static let cookies = JSONSchema.answer([
        .required(
            "source", .choice("request", "session", "default"),
            "The jar: the request's own, the session's, or `default` for none."),
        .required("names", .array(of: .string), "The names of the cookies, in order."),
        .optional(
            "own_field", .constant(true), "The request has a field `Cookie`, which is sent in place of those of a jar."),
    ])

    private static let proxy = JSONSchema.answer([
        sourceWithEnvironment,
        .optional("server", .string, "The URL of the proxy without user and password. Absent: none."),
        .optional("user", .string, "The user for the proxy."),
        .optional("schemes", .array(of: .string), "The schemes with which an HTTP proxy may get the user."),
        .optional("tunnel", .constant(true), "The connection is a tunnel through an HTTP proxy."),
        .optional("preproxy", .string, "The SOCKS proxy through which it is reached."),
        .optional("exception", .constant(true), "The host is in `no_proxy`."),
    ])

    private static let pool = JSONSchema.answer([
        .required(
            "settings", .array(of: .string),
            "The settings by which its connections differ from those of other requests, as in `pool.stats`."),
        .required(
            "sharing", .choice("multiplexed", "sequential", "separate"),
            """
            `multiplexed`: a connection carries several requests at once, if the server speaks HTTP/2. `sequential`: one at a \
            time, of any kind. `separate`: one at a time, and only streams, downloads, uploads of a `stream`, and over \
            HTTPS bodies for a descriptor whose reader may be slow.
            """),
        .optional("uid", .count, "The user whose connections these are; absent: the daemon's own user."),
        .required("connections", .count, "Open connections with these settings to this origin."),
        .required("idle", .count, "Open connections without a transfer."),
    ])
}
