internal import CarpoolJSON

// Evaluation of servers by a client.
extension CallbackMethods {
    static let trust = CallbackDescription(
        name: "callback.trust", summary: "Requests the decision whether a server is trusted.",
        description: """
            Sent when a connection is made, before anything of a request is sent; requests that use the connection later do not ask \
            again. If the server is trusted, the daemon connects once more and accepts exactly these certificates. The call is \
            about a connection and not about one request, so `session`, `request` and `attempt` are absent.
            """,
        params: [
            .required("callback", .callbackName, "The callback's name in the request or its session."),
            .required("deadline_ms", .integer(0...600_000), "The time for the answer; a later answer is ignored."),
            .required("host", .string, "The URL's host; an IPv6 address has no brackets."),
            .required("port", .integer(1...65_535), "The URL's port."),
            .required(
                "certificates", .array(of: .string),
                "The certificates that the server has sent, in base64 of their DER, its own first."),
            .optional("truncated", .constant(true), "Certificates are left out, because they do not fit the line."),
        ],
        result: .object([
            .required("trusted", .boolean, "Whether the server is trusted."),
            .optional("message", .string, "Why it is not."),
        ]),
        examples: [
            .init(
                "a stranger",
                params: """
                    {"callback":"judge","deadline_ms":10000,"host":"example.com","port":443,"certificates":["MIIB"]}
                    """, result: #"{"trusted":false,"message":"the key is not in my list"}"#)
        ])
}
