internal import CarpoolJSON

// The schema of `proxy`.
extension JSONSchema {
    /// The proxies of requests.
    static let proxy = JSONSchema.named(
        "Proxy",
        .oneOf(
            proxyURL.described("The URL of the proxy of every request, as curl's `--proxy` takes it."),
            .object([
                .optional("http", proxyServer, "The proxy of `http` URLs.", otherwise: "`all`"),
                .optional("https", proxyServer, "The proxy of `https` URLs.", otherwise: "`all`"),
                .optional("all", proxyServer, "The proxy of both.", otherwise: "none"),
                .optional(
                    "no_proxy",
                    .oneOf(
                        .string(maxBytes: 16_384).described(
                            """
                            The text of the variable `no_proxy`: entries with commas or blanks between them. As in curl, one that \
                            is not an entry has no effect.
                            """),
                        .array(of: .string(maxBytes: 256), count: 0...256)),
                    """
                    Hosts that are reached without a proxy: names, which include the names below them; addresses; networks such as \
                    `10.0.0.0/8`; `*` for every host. With `:PORT` the port counts.
                    """),
                .optional(
                    "environment", .boolean,
                    """
                    Whether they come from the environment of the caller's program. The proxies of the session, if it has any, take \
                    precedence then.
                    """, default: "false"),
                .optional(
                    "no_proxy_in_session", .boolean,
                    """
                    With `environment`: whether `no_proxy` replaces that of the session, if the session's proxies take precedence.
                    """, default: "false"),
            ])))

    private static let proxyURL = JSONSchema.string(maxBytes: 4_096)

    private static let proxyServer = JSONSchema.named(
        "ProxyServer",
        .oneOf(
            proxyURL.described(
                """
                `[scheme://][user:password@]host[:port]`; the scheme is `http` (default), `https`, `socks4`, `socks4a`, `socks5` or \
                `socks5h`, the default port 1080, and 443 for `https`. Empty for none.
                """),
            .object([
                .required("url", proxyURL, "The same."),
                .optional("username", .string(maxBytes: 1_024), "The user, in place of the URL's."),
                .optional("password", password, "The password. It is never returned."),
                .optional(
                    "schemes", .array(of: authenticationScheme, count: 1...2),
                    """
                    The schemes with which an HTTP proxy may get user and password. `["basic"]` sends them at once; with `digest` the proxy \
                    is asked first.
                    """, default: "[\"basic\"]"),
                .optional(
                    "tunnel", .boolean, "Whether an HTTP proxy makes a tunnel (CONNECT) for `http` URLs too.",
                    default: "false"),
                .optional("preproxy", proxyURL, "The URL of a SOCKS proxy through which an HTTP proxy is reached."),
            ])))
}
