internal import CarpoolJSON

/// `credentials.*`: users and passwords of a session, by protection space.
enum CredentialMethods {
    static let all: [Method] = [set, list, remove]

    private static let session = JSONSchema.Member.optional(
        "session", .sessionName, "The session's name.", default: "\"default\"")

    private static let set = Method(
        "credentials.set", role: .submit, "Sets a user and a password of a session for a protection space.",
        """
        Requests of the session that have no `credential` of their own answer challenges of the space with them, from now on. The \
        credential of exactly the same `host`, `port`, `scheme` and `realm` is replaced. It is in memory only, and \
        ends with the session. A session has at most 64.
        """,
        params: [session] + JSONSchema.protectionSpaceMembers + JSONSchema.credentialMembers,
        result: .stateChange,
        errors: [
            .sessionNotFound, .wrongState, .queueFull, .fileCannotOpen, .fileNotOwner, .fileOtherView,
        ],
        examples: [
            .init(
                "for every realm of a host",
                params: #"{"host":"www.example.com","username":"ada","password":"secret"}"#,
                result: #"{"changed":true,"state":"present"}"#)
        ])

    private static let list = Method(
        "credentials.list", role: .submit, "Lists the credentials of a session, without their passwords.",
        """
        The first one that fits a challenge is used. A page has at most `limit` credentials, and fewer if the line would be too \
        long; while `next` is not null, call again with it.
        """,
        params: [
            session,
            .optional("limit", .integer(1...1_000), "The most entries of a page.", default: "100"),
            .optional("next", .string(maxBytes: 64), "`next` of the previous page."),
        ],
        result: .answer([
            .required("credentials", .array(of: JSONSchema.shownCredential), "The most specific ones first."),
            .required("next", .string.nullable, "For the next page; null on the last."),
        ]), errors: [.sessionNotFound],
        examples: [.init("none", params: "{}", result: #"{"credentials":[],"next":null}"#)])

    private static let remove = Method(
        "credentials.remove", role: .submit, "Removes the credential of a protection space from a session.",
        """
        Also one of the session's configuration. What the session has learned of it, such as nonces, is removed too. Requests that \
        wait for the answer to a challenge continue.
        """,
        params: [session] + JSONSchema.protectionSpaceMembers, result: .stateChange, errors: [.sessionNotFound],
        examples: [
            .init(
                "none was there", params: #"{"host":"www.example.com","realm":"the vault"}"#,
                result: #"{"changed":false,"state":"absent"}"#)
        ])
}

extension JSONSchema {
    /// A credential of a session as it is shown.
    static let shownCredential = JSONSchema.named(
        "ShownCredential",
        .answer([
            .required("host", .string, "The host."),
            .optional("port", .integer(1...65_535), "The port. Absent: every port."),
            .optional("scheme", .choice("http", "https"), "The scheme of the URL. Absent: both."),
            .optional("realm", .string, "The realm. Absent: every realm."),
            .required("username", .string, "The user."),
            .required("schemes", .array(of: .string), "The schemes that may be used."),
            .required("preemptive", .boolean, "Whether they are sent before a challenge."),
            .required(
                "set_by", .choice("configuration", "credentials.set"),
                "Where it was set: in the configuration of the session, or with `credentials.set`."),
        ]))
}
