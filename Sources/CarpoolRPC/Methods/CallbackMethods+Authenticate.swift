internal import CarpoolJSON

// Challenges that a client answers.
extension CallbackMethods {
    static let authenticate = CallbackDescription(
        name: "callback.authenticate", summary: "Requests the answer to a challenge.",
        description: """
            Sent when a server asks for a user and a password with a scheme that can be used (401), or an HTTP proxy that gets the request \
            as it is (407); again after each refusal, at most 5 times in an attempt. A nonce that was only too old is replaced without \
            another call. The challenge to a CONNECT is answered with the credential of `proxy`, without a call. The credential of an \
            answer is used for this request alone, at this server.
            """,
        params: aboutRequest + [
            .required("host", .string, "The host of the server; an IPv6 address has no brackets."),
            .required("port", .integer(1...65_535), "Its port."),
            .optional("realm", .string, "The realm, as the server names it; absent if it has no name."),
            .required("scheme", .choice("basic", "digest"), "The strongest scheme that the server offers."),
            .optional("proxy", .constant(true), "Whether the server is a proxy."),
            .required(
                "previous_failure_count", .count, "How often a credential of this attempt was refused there."),
        ],
        result: .oneOf(
            .object([.required("credential", JSONSchema.answeredCredential, "The credential that is sent.")]),
            .object([
                .required(
                    "action", .choice("default", "reject", "cancel"),
                    """
                    `default`: the credential of the request or the session is used, if there is one that was not refused. `reject`: the \
                    response that asks is the final one. `cancel`: the request fails with `client_refused`, which has the \
                    message.
                    """),
                .optional("message", .string, "With `cancel`: the reason."),
            ])),
        examples: [
            .init(
                "the user has typed it",
                params: """
                    {"callback":"login","session":"default","request":"r_k3f9_1a","attempt":1,"deadline_ms":60000,"host":"example.com",\
                    "port":443,"realm":"the vault","scheme":"digest","previous_failure_count":0}
                    """, result: #"{"credential":{"username":"ada","password":"secret"}}"#),
            .init(
                "the user has given up",
                params: """
                    {"callback":"login","session":"default","request":"r_k3f9_1a","attempt":1,"deadline_ms":60000,"host":"example.com",\
                    "port":443,"realm":"the vault","scheme":"digest","previous_failure_count":1}
                    """, result: #"{"action":"reject"}"#),
        ])
}
