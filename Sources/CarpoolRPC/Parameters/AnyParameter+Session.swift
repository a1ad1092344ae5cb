public import CarpoolJSON

// The members of a session's configuration that requests do not have, or not with the same meaning.
extension AnyParameter {
    /// All members of the configuration.
    static let sessionParameters: [AnyParameter] =

        [.sessionHeaders, .languages, .ephemeral] + sharedParameters + [.sessionCredentials]

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
    /// Whether the session is ephemeral. Stored and returned; nothing else depends on it, as no session keeps cookies,
    /// caches or credentials on disk.
    public static let ephemeral = Parameter<Bool>(
        "ephemeral", .boolean,
        "Stored and returned by `session.get`; it has no other effect yet. No session stores cookies, caches or credentials on disk.",
        default: false)
}

extension JSONSchema {
    /// The configuration of a session: of one that a client creates, and of one that the configuration file declares.
    public static let sessionConfiguration = JSONSchema.named(
        "SessionConfiguration", .object(AnyParameter.sessionParameters.map(\.member)))
}
