import CarpoolJSON

// The schemas of `credential` and `credentials`.
extension JSONSchema {
    /// A user and a password for the origin of a request.
    static let credential = JSONSchema.named("Credential", .object(credentialMembers))

    /// Users and passwords by host.
    static let hostCredentials = JSONSchema.array(of: hostCredential, count: 0...64)

    private static let hostCredential = JSONSchema.named(
        "HostCredential",
        .object(
            [
                .required(
                    "host", .string(maxBytes: 256),
                    "The host that they are for, with every scheme and port; `*` for every host.")
            ] + credentialMembers))

    /// Who decides about challenges.
    static let authenticate = JSONSchema.named(
        "Authenticate", .object([.required("callback", challengeCallback, "The client that decides.")]))

    /// A scheme of authentication with a user and a password.
    static let authenticationScheme = JSONSchema.choice(
        ["basic", "digest"], refused: ["ntlm", "negotiate"],
        because: """
            it authenticates a connection with the login of one process, and programs share the daemon's connections; use basic or \
            digest, or curl itself (curl --ntlm, curl --negotiate)
            """)

    /// The credentials of a session.
    static let sessionCredentials = JSONSchema.array(of: sessionCredential, count: 0...64)

    private static let sessionCredential = JSONSchema.named(
        "SessionCredential", .object(protectionSpaceMembers + credentialMembers))

    /// Where a credential of a session is valid.
    static let protectionSpaceMembers: [Member] = [
        .required("host", .string(maxBytes: 256), "The host: a name or an address, without a port."),
        .optional("port", .integer(1...65_535), "The port.", otherwise: "every port"),
        .optional("scheme", .choice("http", "https"), "The scheme of the URL.", otherwise: "both"),
        .optional("realm", .string(maxBytes: 1_024), "The realm, as the server names it.", otherwise: "every realm"),
    ]

    /// A password, by its value or by its place.
    static let password = JSONSchema.named(
        "Password",
        .oneOf(
            .string(maxBytes: 4_096).described("The password itself."),
            .object([
                .required(
                    "file", .string(maxBytes: 4_096),
                    "The absolute path of a file with the password, of at most 4 KiB. A newline at its end is not part of it."
                )
            ]),
            .object([
                .required(
                    "fd", .integer(0...15),
                    "The index of a passed descriptor of such a file, which is read from its beginning.")
            ])))

    /// A user and a password in an answer of a client.
    static let answeredCredential = JSONSchema.named(
        "AnsweredCredential",
        .object(
            credentialMembers.map { member in
                guard member.name.description == "password" else { return member }
                return .required("password", .string(maxBytes: 4_096), "The password. It is never returned.")
            }))

    /// The members of a user and a password.
    static let credentialMembers: [Member] = [
        .required(
            "username", .string(maxBytes: 1_024), "The user. Without a colon, unless `schemes` is only `digest`."),
        .required("password", password, "The password. It is never returned."),
        .optional(
            "schemes", .array(of: authenticationScheme, count: 1...2),
            "The schemes that may be used. The strongest one that the server offers is used.",
            default: "[\"basic\",\"digest\"]"),
        .optional(
            "preemptive", .boolean,
            "Whether they are sent with the first request, before a challenge. Requires `schemes` `[\"basic\"]`.",
            default: "false"),
    ]
}
