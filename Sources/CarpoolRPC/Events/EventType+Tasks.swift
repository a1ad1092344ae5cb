internal import CarpoolJSON

// What the transport reports about an attempt.
extension EventType {
    static let taskRows: [EventDescription] = [
        EventDescription(
            .taskDidReceiveChallenge, "task.did_receive_challenge", "EM-02",
            """
            A server's certificate was verified on a new connection, or a response asked for credentials (status 401 or 407).
            """,
            [
                .required(
                    "method", .choice("ServerTrust", "HTTPBasic", "HTTPDigest", "HTTPNTLM", "HTTPNegotiate"),
                    "The authentication method."),
                .required("host", .string, "The server."), .required("port", .count, "Its port."),
                .optional("realm", .string, "The realm that the server names."),
                .optional("proxy", .constant(true), "The server is a proxy."),
                .required(
                    "previous_failure_count", .count, "How often the server has refused a credential of the attempt."
                ),
            ],
            example: #"{"method":"ServerTrust","host":"example.com","port":443,"previous_failure_count":0}"#),
        EventDescription(
            .taskDidReceiveResponse, "task.did_receive_response", "EM-09",
            "The head of the final response was received. `task.will_redirect` reports redirects that are followed.",
            [.required("response", .responseHead, "The head.")],
            example: #"""
                {"response":{"status":200,"http_version":"h2","headers":[["content-length","6"]],\#
                "url":"https://example.com/hello"}}
                """#),
        EventDescription(
            .taskDidReceiveData, "task.did_receive_data", "EM-10",
            "A piece of the final response's body was received.", EventMembers.size, example: #"{"size_bytes":6}"#),
        EventDescription(
            .taskWillRedirect, "task.will_redirect", "EM-05",
            "The origin redirects, whether or not the request follows.",
            [
                .optional("status", .integer, "The status of the redirect."),
                .optional("from", .string, "The URL that redirects."),
                .required("url", .string, "The URL that it redirects to."),
            ],
            example: #"{"status":302,"from":"https://example.com/old","url":"https://example.com/hello"}"#),
        EventDescription(
            .taskDidCollectMetrics, "task.did_collect_metrics", "EM-06",
            "The metrics of an attempt are complete.", EventMembers.metrics, example: #"{"metrics":[]}"#),
        EventDescription(
            .taskDidComplete, "task.did_complete", "EM-07", "The last hop of an attempt has ended.",
            EventMembers.taskError),
        EventDescription(
            .taskIsWaitingForConnectivity, "task.is_waiting_for_connectivity", "EM-08",
            """
            The host is not reachable, and the request waits until it is (`waits_for_connectivity`). Sent once for each attempt.
            """,
            [
                .required(
                    "status", .choice("satisfied", "unsatisfied", "requires_connection", "unknown"),
                    "The reachability of the host."),
                .optional("reason", .string, "Why it is not reachable, as in `reachability.get`."),
            ],
            example: #"{"status":"unsatisfied","reason":"no_route"}"#),
    ]
}
