internal import CarpoolJSON

/// `callback.*`: calls that the daemon makes to its clients.
enum CallbackMethods {
    static let all: [CallbackDescription] = [
        adapt, retry, redirect, validate, preprocess, serialize, destination, refresh, givesBody, trust, authenticate,
        cache,
    ]

    private static let adapt = CallbackDescription(
        name: "callback.adapt", summary: "Requests the changes of a request before it is sent.",
        description: """
            Sent before every attempt, each time with the original request, so that changes do not accumulate. `{}` changes \
            nothing. `fail` fails the request with `client_refused`, which has the message.
            """,
        params: aboutRequest + [urlRequest],
        result: .object(
            JSONSchema.requestChange + [.optional("fail", JSONSchema.refusal, "Fails the request instead.")]),
        examples: [
            .init(
                "a signature",
                params: """
                    {"callback":"sign","session":"default","request":"r_k3f9_1a","attempt":1,"deadline_ms":10000,"url_request":\
                    {"method":"POST","url":"https://example.com/a","headers":[["Accept","*/*"]],"body":{"text":"hi","size_bytes":2}}}
                    """,
                result: #"{"set_headers":{"X-Signature":"5d41402a"}}"#),
            .init(
                "no change",
                params: """
                    {"callback":"sign","session":"default","request":"r_k3f9_1b","attempt":1,"deadline_ms":10000,"url_request":\
                    {"method":"GET","url":"https://example.com/b","headers":[]}}
                    """,
                result: "{}"),
        ])

    private static let retry = CallbackDescription(
        name: "callback.retry", summary: "Requests the decision whether a failed request is retried.",
        description: "After `do_not_retry` the next retrier is asked; after any other answer no more retriers are.",
        params: aboutRequest + [
            .required("error", .requestError, "Why it failed."),
            .optional("response", .responseHead, "The response, if there was one."),
            .required("retry_count", .count, "The number of retries so far."),
        ],
        result: .object([
            .required(
                "decision", .choice("do_not_retry", "retry", "do_not_retry_with_error"),
                "`do_not_retry_with_error` fails the request with `request_retry_failed`, which has the message."),
            .optional(
                "delay_ms", .integer(0...2_592_000_000), "With `retry`: the delay before the next attempt.",
                default: "0"),
            .optional("message", .string, "With `do_not_retry_with_error`: the reason."),
        ]),
        examples: [
            .init(
                "in half a second",
                params: """
                    {"callback":"patience","session":"default","request":"r_k3f9_1a","attempt":1,"deadline_ms":10000,\
                    "error":{"code":2000,"name":"session_task_failed.timed_out","message":"no byte came for 60000 ms",\
                    "retryable":true,"timeout":"idle"},"retry_count":0}
                    """, result: #"{"decision":"retry","delay_ms":500}"#)
        ])

    private static let redirect = CallbackDescription(
        name: "callback.redirect", summary: "Requests the decision whether and how a redirect is followed.",
        description: """
            `url_request` is the request that would be sent next. `follow` sends it with the changes in the other members; \
            with `do_not_follow` the redirect itself is the final response.
            """,
        params: aboutRequest + [response, urlRequest],
        result: .object(
            [.required("decision", .choice("follow", "do_not_follow"), "Whether to follow.")]
                + JSONSchema.requestChange),
        examples: [
            .init(
                "somewhere else",
                params: """
                    {"callback":"guide","session":"default","request":"r_k3f9_1a","attempt":1,"deadline_ms":10000,"response":\
                    {"status":302,"http_version":"h2","headers":[["location","/b"]],"url":"https://example.com/a"},\
                    "url_request":{"method":"GET","url":"https://example.com/b","headers":[]}}
                    """, result: #"{"decision":"follow","url":"https://example.com/c"}"#)
        ])

    private static let validate = CallbackDescription(
        name: "callback.validate", summary: "Requests the decision whether a response is accepted.",
        description: """
            A response that is not acceptable fails the request with `response_validation_failed.custom_validation_failed`, which has the \
            message.
            """,
        params: aboutRequest + [response, body],
        result: .object([
            .required("valid", .boolean, "Whether the response is acceptable."),
            .optional("message", .string, "Why it is not."),
        ]),
        examples: [
            .init(
                "an empty list", params: withBody("not_empty", #"{"text":"[]","size_bytes":2}"#),
                result: #"{"valid":false,"message":"the list is empty"}"#)
        ])

    private static let preprocess = CallbackDescription(
        name: "callback.preprocess", summary: "Requests the bytes that serializers receive instead of the body.",
        description: "Not sent for an empty body.",
        params: aboutRequest + [body],
        result: .oneOf(
            .object([.required("text", .string, "UTF-8.")]), .object([.required("base64", .string, "Any bytes.")]),
            failing),
        examples: [
            .init(
                "without a prefix",
                params: """
                    {"callback":"strip","session":"default","request":"r_k3f9_1a","attempt":1,"deadline_ms":10000,\
                    "body":{"text":"while(1);[1]","size_bytes":12}}
                    """, result: #"{"text":"[1]"}"#)
        ])

    private static let serialize = CallbackDescription(
        name: "callback.serialize", summary: "Requests the value of a response.",
        description: """
            Any JSON value that the client answers is the request's value. `fail` fails the request with \
            `response_serialization_failed.custom_serialization_failed`, which has the message.
            """,
        params: aboutRequest + [response, body],
        result: .oneOf(.object([.required("value", .any, "The value.")]), failing),
        examples: [
            .init(
                "a sum", params: withBody("sum", #"{"text":"1 2 3","size_bytes":5}"#), result: #"{"value":{"sum":6}}"#)
        ])

    private static let destination = CallbackDescription(
        name: "callback.destination", summary: "Requests the destination of a download.",
        description: """
            Sent when the head of the response was received; the body waits for the answer. An answer with an invalid path is an \
            invalid answer. Members that are absent have the values of the request.
            """,
        params: aboutRequest + [
            response,
            .required("suggested_name", .string, "The response's name for the file, made safe."),
        ],
        result: .oneOf(
            .object(
                [.required("path", .string(maxBytes: 4_096), "The absolute path of the file.")]
                    + JSONSchema.destinationOptions),
            .object([.required("spool", .constant(true), "To a file of the spool.")]), failing),
        examples: [
            .init(
                "by its own name",
                params: """
                    {"callback":"place","session":"default","request":"r_k3f9_1a","attempt":1,"deadline_ms":10000,"response":\
                    {"status":200,"http_version":"h2","headers":[],"url":"https://example.com/a.zip"},\
                    "suggested_name":"a.zip"}
                    """, result: #"{"path":"/home/me/Downloads/a.zip","remove_previous":true}"#)
        ])

    private static let givesBody = CallbackDescription(
        name: "callback.body", summary: "Requests the body of a request.",
        description: """
            Sent before every attempt, and when the body has to be sent again: after a redirect that keeps it, and on another \
            connection. A body that is `stream` is sent with `body.put`. `fail` fails the request with \
            `create_uploadable_failed`, which has the message.
            """,
        params: aboutRequest + [urlRequest],
        result: .oneOf(
            .object([.required("text", .string, "UTF-8.")]),
            .object([.required("json", .any, "Sent as compact JSON; numbers and the order of members are preserved.")]),
            .object([.required("base64", .string, "Any bytes.")]), .fileBody,
            .object([
                .required("stream", .constant(true), "The client sends the body with `body.put`."),
                .optional("length_bytes", .count, "The length of the body; absent if it is not known."),
            ]), failing),
        examples: [
            .init(
                "a streamed body",
                params: """
                    {"callback":"backup","session":"default","request":"r_k3f9_1a","attempt":1,"deadline_ms":10000,"url_request":\
                    {"method":"PUT","url":"https://example.com/a","headers":[]}}
                    """, result: #"{"stream":true}"#)
        ])

    private static let refresh = CallbackDescription(
        name: "callback.refresh", summary: "Requests a new credential.",
        description: """
            Sent once, for all requests that wait for the credential. Without a new refresh token the old one stays in use. The \
            call is about a session and not about one request, so `request` and `attempt` are absent.
            """,
        params: aboutSession + [
            .required(
                "credential",
                .answer([
                    .required("access_token", .string, "The token that was sent as `Authorization: Bearer`."),
                    .optional("refresh_token", .string, "The refresh token, if it is known."),
                    .optional("expires", .time, "When the access token expires, if it is known."),
                ]), "The credential that has expired or was refused.")
        ],
        result: .oneOf(
            .object([
                .required(
                    "credential",
                    .object([
                        .required("access_token", .string(maxBytes: 32_768), "The new access token; not empty."),
                        .optional(
                            "refresh_token", .string(maxBytes: 32_768), "The new refresh token. Default: the old one."),
                        .optional(
                            "expires_in_ms", .integer(1...3_155_760_000_000),
                            "How long the access token is valid; absent if it is not known."),
                    ]), "The new credential.")
            ]), failing),
        examples: [
            .init(
                "a token for an hour",
                params: """
                    {"callback":"login","session":"api","deadline_ms":10000,"credential":{"access_token":"old",\
                    "refresh_token":"r1","expires":"2026-09-30T10:00:00.000000Z"}}
                    """,
                result: #"{"credential":{"access_token":"new","refresh_token":"r2","expires_in_ms":3600000}}"#)
        ])
}

// Members that several callbacks share.
extension CallbackMethods {
    private static let aboutSession: [JSONSchema.Member] = [
        .required("callback", .callbackName, "The callback's name in the request or its session."),
        .required("session", .sessionName, "The session that it is about."),
        .required("deadline_ms", .integer(0...600_000), "The time for the answer; a later answer is ignored."),
    ]

    static let aboutRequest: [JSONSchema.Member] =
        aboutSession + [
            .required("request", .requestName, "The request that it is about."),
            .required("attempt", .integer(0...Int64.max), "The number of the attempt, from 1; 0 before the first."),
        ]

    static let urlRequest = JSONSchema.Member.required(
        "url_request", JSONSchema.urlRequest, "The request as it would be sent.")
    static let response = JSONSchema.Member.required("response", .responseHead, "The response's head.")
    private static let body = JSONSchema.Member.required(
        "body", JSONSchema.callbackBody, "The response's body, decoded.")
    private static let failing = JSONSchema.object([.required("fail", JSONSchema.refusal, "Fails the request instead.")]
    )

    private static func withBody(_ name: String, _ body: String) -> String {
        """
        {"callback":"\(name)","session":"default","request":"r_k3f9_1a","attempt":1,"deadline_ms":10000,"response":\
        {"status":200,"http_version":"h2","headers":[],"url":"https://example.com/a"},"body":\(body)}
        """
    }
}

extension JSONSchema {
    /// The answer of a client that fails the request.
    fileprivate static let refusal = JSONSchema.named(
        "Refusal", .object([.required("message", .string, "Why; the first 1,024 bytes are kept.")]))

    /// A body as a client sees it in a callback.
    fileprivate static let callbackBody = JSONSchema.named(
        "CallbackBody",
        .answer([
            .optional("text", .string, "The bytes, if they are UTF-8 and fit the line."),
            .optional("base64", .string, "The bytes, if they are not UTF-8 and fit the line."),
            .optional(
                "file", .string, "A file with the bytes, if they do not fit; it stays until the request is over."),
            .optional("size_bytes", .count, "The length of the body; absent if it is not known."),
        ]))

    /// A request as a client sees it in a callback.
    fileprivate static let urlRequest = JSONSchema.named(
        "URLRequest",
        .answer([
            .required("method", .string, "Its method."),
            .required("url", .string, "Its URL."),
            .required("headers", .array(of: .array(of: .string, count: 2...2)), "`[name, value]` in order."),
            .optional("body", callbackBody, "The body; absent if there is none. Of a file only the size."),
            .optional("truncated", .constant(true), "The fields or the URL are longer than fit the client's line."),
        ]))

    /// The members with which a client changes a request.
    fileprivate static let requestChange: [Member] = [
        .optional("method", .string(maxBytes: 64), "Another method."),
        .optional("url", .string(maxBytes: 65_536), "Another URL, absolute."),
        .optional("headers", .headers, "These fields instead of all that are there."),
        .optional("set_headers", .map(of: .string, maxCount: 256), "Fields to set; they replace others of their name."),
        .optional(
            "remove_headers", .array(of: .string(maxBytes: 256), count: 0...256), "Names of fields to take out first."),
        .optional("body", changedBody, "Another body."),
    ]

    /// A body that a client puts in place of another.
    static let changedBody = JSONSchema.named(
        "ChangedBody",
        .oneOf(
            .object([.required("text", .string, "UTF-8.")]),
            .object([.required("json", .any, "Sent as compact JSON; numbers and the order of members are preserved.")]),
            .object([.required("base64", .string, "Any bytes.")])))
}
