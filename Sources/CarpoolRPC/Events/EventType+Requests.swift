internal import CarpoolJSON

// The life of a request.
extension EventType {
    static let requestRows: [EventDescription] = preparationRows + stateRows + responseRows

    private static let preparationRows: [EventDescription] = [
        EventDescription(
            .requestDidCreateInitialURLRequest, "request.did_create_initial_url_request", "EM-15",
            "A request was made from its parameters.", EventMembers.target,
            example: #"{"method":"GET","url":"https://example.com/hello"}"#),
        EventDescription(
            .requestDidFailToCreateURLRequest, "request.did_fail_to_create_url_request", "EM-16",
            "No request could be made from the parameters.", [EventMembers.error],
            example: #"{"error":{"code":2000,"name":"invalid_url","message":"the URL is empty","retryable":false}}"#),
        EventDescription(
            .requestDidAdaptInitialRequest, "request.did_adapt_initial_request", "EM-17",
            "All adapters have changed the request. Not sent if there are no adapters.",
            [
                .required("initial", .answer(EventMembers.urlRequest), "The request as it was made."),
                .required("adapted", .answer(EventMembers.urlRequest), "The request after all adapters."),
            ],
            example: #"""
                {"initial":{"method":"GET","url":"https://example.com/hello","headers":[]},\#
                "adapted":{"method":"GET","url":"https://example.com/hello","headers":[["X-Trace","7"]]}}
                """#),
        EventDescription(
            .requestDidFailToAdaptURLRequest, "request.did_fail_to_adapt_url_request", "EM-18",
            "An adapter failed, or returned a request that must not be sent.", [EventMembers.error],
            example: #"""
                {"error":{"code":2000,"name":"request_adaptation_failed",\#
                "message":"an adapter failed: no token","retryable":false}}
                """#),
        EventDescription(
            .requestDidCreateURLRequest, "request.did_create_url_request", "EM-19",
            "The request is ready to be sent.", EventMembers.urlRequest,
            example: #"""
                {"method":"GET","url":"https://example.com/hello","headers":[["Authorization","(hidden)"]]}
                """#),
        EventDescription(
            .requestDidCreateTask, "request.did_create_task", "EM-20",
            "The transport accepted the request for an attempt."),
    ]

    private static let stateRows: [EventDescription] = [
        EventDescription(
            .requestDidResume, "request.did_resume", "EM-26", "A request was started.", EventMembers.target,
            example: #"{"method":"GET","url":"https://example.com/hello"}"#),
        EventDescription(.requestDidResumeTask, "request.did_resume_task", "EM-27", "An attempt was started."),
        EventDescription(.requestDidCancel, "request.did_cancel", "EM-30", "A request was cancelled."),
        EventDescription(.requestDidCancelTask, "request.did_cancel_task", "EM-31", "An attempt was cancelled."),
        EventDescription(.requestDidSuspend, "request.did_suspend", "EM-28", "A request was suspended."),
        EventDescription(.requestDidSuspendTask, "request.did_suspend_task", "EM-29", "An attempt was suspended."),
        EventDescription(
            .requestDidCompleteTask, "request.did_complete_task", "EM-23", "An attempt has ended.",
            EventMembers.taskError, example: #"{"error":"timed_out"}"#),
        EventDescription(
            .requestDidFailTaskEarly, "request.did_fail_task_early", "EM-22",
            "`trust` refused the server's certificate. Not sent where the system's authorities alone decide.",
            [EventMembers.error],
            example: #"""
                {"error":{"code":2000,"name":"session_task_failed.server_certificate_has_unknown_root",\#
                "message":"the certificate leads to no authority that is trusted","retryable":false}}
                """#),
        EventDescription(
            .retryScheduled, "retry.scheduled", nil, "A request has failed, and is sent again after a delay.",
            [
                .required("retry_count", .count, "The number of retries, this one included."),
                .required("delay_ms", .count, "The delay before it, in milliseconds."),
                .optional("status", .integer(100...999), "The status of the response, if there was one."),
                EventMembers.error,
            ],
            example: #"""
                {"retry_count":1,"delay_ms":500,"status":503,"error":{"code":2000,\#
                "name":"response_validation_failed.unacceptable_status_code",\#
                "message":"the response's status 503 is not acceptable","retryable":true}}
                """#),
        EventDescription(
            .requestIsRetrying, "request.is_retrying", "EM-24", "A request is about to be sent again.",
            [.required("retry_count", .count, "The number of retries, this one included.")],
            example: #"{"retry_count":1}"#),
        EventDescription(
            .requestDidFinish, "request.did_finish", "EM-25", "A request has ended; its serializers may still run.",
            [
                .required("state", .requestState, "The state in which it ends."),
                .required("ok", .boolean, "Whether there is a response and no failure."),
                .optional("status", .integer, "The response's status."),
                .required("size_bytes", .count, "The size of the decoded body."),
                .optional("client_name", .string, "The name that the client has given in `client.hello`, if it has."),
                .optional("error", .requestError, "The cause of the failure."),
            ],
            example: #"{"state":"finished","ok":true,"status":200,"size_bytes":6}"#),
    ]

    private static let responseRows: [EventDescription] = [
        EventDescription(
            .requestDidGatherMetrics, "request.did_gather_metrics", "EM-21",
            "The metrics of an attempt are complete.", EventMembers.metrics, example: #"{"metrics":[]}"#),
        EventDescription(
            .requestDidValidate, "request.did_validate", "EM-32, EM-35, EM-42",
            "A validator accepted or refused the response.",
            [
                .required("validator", .string, "The kind of validator: `status`, `content_type` or `callback`."),
                .required("index", .count, "Its place in the list, from 0."),
                .required("ok", .boolean, "Whether the response is acceptable."),
                .optional("error", .requestError, "Why it is not."),
            ],
            example: #"{"validator":"status","index":0,"ok":true}"#),
        EventDescription(
            .requestDidParseResponse, "request.did_parse_response", "EM-33, EM-34, EM-43, EM-44",
            "A serializer made a value of the response, or failed.",
            [
                .required("serializer", .string, "The serializer; `none` if the body itself is the result."),
                .required("ok", .boolean, "Whether there is a value."),
                .required("duration_us", .count, "The time that it took, in microseconds."),
                .optional("error", .requestError, "Why there is no value."),
            ],
            example: #"{"serializer":"json","ok":true,"duration_us":41}"#),
        EventDescription(
            .requestDidParseStream, "request.did_parse_stream", "EM-36",
            "A reader of a stream received a message. Not sent for readers of `bytes`.",
            [
                .required("serializer", .streamSerializer, "The format of the reader's messages."),
                .required("seq", .count, "The message's number among the reader's."),
                .required("size_bytes", .count, "The bytes of the stream that it took."),
                .required("ok", .boolean, "Whether they had the right form."),
                .optional("error", .requestError, "Why they did not."),
            ],
            example: #"{"serializer":"lines","seq":1,"size_bytes":12,"ok":true}"#),
    ]
}
