internal import CarpoolJSON

/// `session.*`: named configurations.
enum SessionMethods {
    static let all: [Method] = [create, get, list, cancelRequests, setCredential, invalidate]

    private static let record = JSONSchema.named(
        "Session",
        .answer([
            .required("session", .sessionName, "The session's name."),
            .required("state", .choice("valid", "invalid"), "Whether it accepts new requests."),
            .required(
                "declared", .boolean,
                "Whether the daemon's configuration file declares it, instead of a call of `session.create`."),
            .required(
                "lifetime", .choice("daemon", "connection"),
                "Whether it ends with the daemon at the latest, or with the connection that has created it."),
            .required("active", .count, "The number of its running requests."),
            .required("requests", .count, "The number of requests that were made in it."),
            .required("configuration", .sessionConfiguration, "The configuration; secrets are hidden."),
            .optional("client_certificate", .shownCertificate, "Its client certificate, without the key."),
            .optional("left_out", .array(of: .string), "Members of the configuration that are too long for the line."),
        ]))

    private static let recordExample = """
        {"session":"default","state":"valid","declared":false,"lifetime":"daemon","active":0,"requests":12,"configuration":{"headers":[],\
        "start":"immediate","setup":"lazy","ephemeral":false,"timeout_ms":60000,"resource_timeout_ms":604800000,"connect_timeout_ms":60000,\
        "waits_for_connectivity":false,"http_version":"auto","url_encoding":"percent","decode":true,"max_ratio":200}}
        """

    private static let create = Method(
        "session.create", role: .submit, "Creates a session: a configuration with a name.",
        """
        A name belongs to the user who creates the session: other users do not see it, and may have sessions of the same name. \
        The configuration does not change afterwards. The same call again answers `changed: false`; the same name with \
        another configuration is an error. A session exists until it is invalidated or the daemon ends; one that the \
        configuration file declares also exists after a restart. One with the lifetime `connection` is invalidated when \
        the connection that has created it closes: it is for a program that makes several requests with the same \
        settings, above all with settings that name files, which are read once for a session and once for each request \
        otherwise. Sessions share \
        connections if the settings that concern connections are equal.
        """,
        params: [
            .required("name", .sessionName, "1 to 64 letters, digits, dots, dashes and underscores."),
            .optional("configuration", .sessionConfiguration, "The settings of its requests.", default: "{}"),
            .optional(
                "lifetime", .choice("daemon", "connection"),
                "Whether it exists until it is invalidated, or until this connection closes at the latest.",
                default: "\"daemon\""),
        ],
        result: .answer([
            .required("changed", .boolean, "Whether the session is new."),
            .required("session", .sessionName, "Its name."),
            .required("state", .choice("valid"), "It accepts requests."),
        ]),
        errors: [.sessionExists, .queueFull, .draining, .fileCannotOpen, .fileNotOwner, .fileOtherView]
            + RPCErrorKind.ofClientCertificates,
        examples: [
            .init(
                "an API with a token",
                params: #"{"name":"api","configuration":{"headers":{"Authorization":"Bearer x"},"timeout_ms":5000}}"#,
                result: #"{"changed":true,"session":"api","state":"valid"}"#),
            .init(
                "for this connection",
                params: #"{"name":"batch-1","lifetime":"connection","configuration":{"tls":{"min_version":"1.3"}}}"#,
                result: #"{"changed":true,"session":"batch-1","state":"valid"}"#),
        ])

    private static let cancelRequests = Method(
        "session.cancel_requests", role: .submit, "Cancels every running request of a session.",
        """
        Each ends with `explicitly_cancelled`, also those of the user's other clients. New requests are accepted at once.
        """,
        params: [.optional("session", .sessionName, "Its name.", default: "\"default\"")],
        result: .answer([.required("cancelled", .count, "The number of cancelled requests.")]),
        errors: [.sessionNotFound],
        examples: [.init("nothing to do", params: #"{"session":"default"}"#, result: #"{"cancelled":0}"#)])

    private static let setCredential = Method(
        "session.set_credential", role: .submit, "Sets the credential of the session's `oauth2` interceptor.",
        """
        Requests that are sent from now on have it. `null` removes the credential: then requests fail with \
        `request_adaptation_failed`, and nothing is sent, until another one is set.
        """,
        params: [
            .required("session", .sessionName, "Its name."),
            .required("credential", .oauth2Credential.nullable, "The credential, or null for none."),
        ], result: .stateChange, errors: [.sessionNotFound, .wrongState],
        examples: [
            .init(
                "a token",
                params: #"{"session":"${session}","credential":{"access_token":"x","expires_in_ms":3600000}}"#,
                result: #"{"changed":true,"state":"present"}"#)
        ])

    private static let get = Method(
        "session.get", role: .submit, "Returns a session's configuration.",
        "Secrets are hidden: a session is shared by the user's clients.",
        params: [.optional("session", .sessionName, "The session's name.", default: "\"default\"")],
        result: record, errors: [.sessionNotFound], examples: [.init("the default one", result: recordExample)])

    private static let list = Method(
        "session.list", role: .submit, "Lists the user's sessions.",
        """
        Every user has `default`. A page has at most `limit` sessions, and fewer if the line would be too long; while `next` is not null, \
        call again with it.
        """,
        params: [
            .optional("limit", .integer(1...1_000), "The most entries of a page.", default: "100"),
            .optional("next", .string(maxBytes: 64), "`next` of the previous page."),
        ],
        result: .answer([
            .required("sessions", .array(of: record), "Sorted by name."),
            .required("next", .string.nullable, "For the next page; null on the last."),
        ]),
        examples: [.init("only the default one", result: "{\"sessions\":[\(recordExample)],\"next\":null}")])

    private static let invalidate = Method(
        "session.invalidate", role: .submit, "Ends a session.",
        """
        It accepts no more requests, and its name is free again. Running requests finish, or are cancelled. `default` \
        and sessions that are declared in the configuration file cannot be invalidated.
        """,
        params: [
            .required("session", .sessionName, "The session's name."),
            .optional(
                "mode", .choice("finish", "cancel"), "Whether running requests finish or are cancelled.",
                default: "\"finish\""),
            .optional(
                "forget", .boolean,
                "Whether its stored responses are removed. Otherwise the next session of this name uses them.",
                default: "false"),
        ], result: .stateChange, errors: [.sessionNotFound, .wrongState],
        examples: [
            .init(
                "let its requests finish", params: #"{"session":"${session}"}"#,
                result: #"{"changed":true,"state":"invalid"}"#)
        ])
}
