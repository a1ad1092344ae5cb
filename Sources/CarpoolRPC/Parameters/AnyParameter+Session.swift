public import CarpoolJSON

// The members of a session's configuration that requests do not have, or not with the same meaning.
extension AnyParameter {
    /// All members of the configuration.
    static let sessionParameters: [AnyParameter] =
        [.sessionHeaders, .languages, .ephemeral] + sharedParameters
        + [.sessionCredentials, .sessionCookies, .sessionCache]

    /// Header fields of every request.
    public static let sessionHeaders = Parameter<JSON>(
        "headers", .headers, "Sent with every request that has no field of the same name.", otherwise: "none")
    /// For `Accept-Language`.
    public static let languages = Parameter<JSON>(
        "languages", .array(of: .string(maxBytes: 35), count: 0...6),
        "The values of `Accept-Language`, the preferred one first: `de-AT`, `en` or `*`.", default: "[\"en\"]")
    /// The credentials by protection space.
    public static let sessionCredentials = Parameter<JSON>(
        "credentials", .sessionCredentials,
        """
        Users and passwords by protection space: requests without a `credential` of their own answer challenges with them. They are \
        never returned; see `credentials.list`.
        """, default: "[]")
    /// Whether the session stores nothing on disk.
    public static let ephemeral = Parameter<Bool>(
        "ephemeral", .boolean,
        """
        Whether the session stores nothing on disk: persistent cookies are refused, and responses are cached in memory alone.
        """,
        default: false)
    /// The cookies of the session.
    public static let sessionCookies = Parameter<JSON>(
        "cookies", .cookieSettings,
        "The jar of the session, which all its requests use and change. `{}` is a jar in memory.",
        otherwise: "no cookies")
    /// The cache of the session.
    public static let sessionCache = Parameter<JSON>(
        "cache", .sessionCache,
        """
        The store of responses that the requests of the session use, or how they use it. `{}` is a store in memory and on disk with all \
        defaults.
        """, otherwise: "no cache; the session `default` has one in memory, for explicit freshness alone")
}

extension JSONSchema {
    /// The configuration of a session: of one that a client creates, and of one that the configuration file declares.
    public static let sessionConfiguration = JSONSchema.named(
        "SessionConfiguration", .object(AnyParameter.sessionParameters.map(\.member)))
}
