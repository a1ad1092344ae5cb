/// For each type of event its number in the session model, if it has one there, and what `data` may be.
enum EventExamples {
    static let all: [String: (model: String?, data: String)] = [
        "session.did_become_invalid": ("EM-01", #"{}"#),
        "request.did_create_initial_url_request": ("EM-15", #"{"method":"GET","url":"https://example.com/hello"}"#),
        "request.did_fail_to_create_url_request": (
            "EM-16",
            #"""
            {"error":{"code":2000,"name":"invalid_url","message":"the URL is empty","retryable":false}}
            """#
        ),
        "request.did_adapt_initial_request": (
            "EM-17",
            #"""
            {"initial":{"method":"GET","url":"https://example.com/hello","headers":[]},\#
            "adapted":{"method":"GET","url":"https://example.com/hello","headers":[["X-Trace","7"]]}}
            """#
        ),
        "request.did_fail_to_adapt_url_request": (
            "EM-18",
            #"""
            {"error":{"code":2000,"name":"request_adaptation_failed",\#
            "message":"an adapter failed: no token","retryable":false}}
            """#
        ),
        "request.did_create_url_request": (
            "EM-19",
            #"""
            {"method":"GET","url":"https://example.com/hello","headers":[["Authorization","(hidden)"]]}
            """#
        ),
        "request.did_create_uploadable": ("EM-37", #"{"kind":"file","size_bytes":1048576}"#),
        "request.did_fail_to_create_uploadable": (
            "EM-38",
            #"""
            {"error":{"code":2000,"name":"create_uploadable_failed",\#
            "message":"the file of a part cannot be read","retryable":false}}
            """#
        ),
        "request.did_provide_input_stream": ("EM-39", #"{}"#),
        "request.upload_progress": (nil, #"{"sent_bytes":524288,"total_bytes":1048576}"#),
        "request.did_create_task": ("EM-20", #"{}"#),
        "request.did_resume": ("EM-26", #"{"method":"GET","url":"https://example.com/hello"}"#),
        "request.did_resume_task": ("EM-27", #"{}"#),
        "request.did_cancel": ("EM-30", #"{}"#),
        "request.did_cancel_task": ("EM-31", #"{}"#),
        "request.did_suspend": ("EM-28", #"{}"#),
        "request.did_suspend_task": ("EM-29", #"{}"#),
        "request.did_gather_metrics": ("EM-21", #"{"metrics":[]}"#),
        "request.did_validate": ("EM-32, EM-35, EM-42", #"{"validator":"status","index":0,"ok":true}"#),
        "request.did_complete_task": ("EM-23", #"{"error":"timed_out"}"#),
        "request.is_retrying": ("EM-24", #"{"retry_count":1}"#),
        "request.did_parse_response": (
            "EM-33, EM-34, EM-43, EM-44",
            #"""
            {"serializer":"json","ok":true,"duration_us":41}
            """#
        ),
        "request.did_parse_stream": ("EM-36", #"{"serializer":"lines","seq":1,"size_bytes":12,"ok":true}"#),
        "request.did_finish": ("EM-25", #"{"state":"finished","ok":true,"status":200,"size_bytes":6}"#),
        "task.did_receive_challenge": (
            "EM-02",
            #"""
            {"method":"ServerTrust","host":"example.com","port":443,"previous_failure_count":0}
            """#
        ),
        "request.did_fail_task_early": (
            "EM-22",
            #"""
            {"error":{"code":2000,"name":"session_task_failed.server_certificate_has_unknown_root",\#
            "message":"the certificate leads to no authority that is trusted","retryable":false}}
            """#
        ),
        "task.did_receive_response": (
            "EM-09",
            #"""
            {"response":{"status":200,"http_version":"h2","headers":[["content-length","6"]],\#
            "url":"https://example.com/hello"}}
            """#
        ),
        "task.did_receive_data": ("EM-10", #"{"size_bytes":6}"#),
        "task.did_send_body_data": ("EM-03", #"{"size_bytes":65536,"sent_bytes":524288,"total_bytes":1048576}"#),
        "task.needs_new_body_stream": ("EM-04", #"{}"#),
        "task.will_redirect": (
            "EM-05",
            #"""
            {"status":302,"from":"https://example.com/old","url":"https://example.com/hello"}
            """#
        ),
        "task.did_write_data": ("EM-13", #"{"size_bytes":16384,"received_bytes":32768,"total_bytes":1048576}"#),
        "task.did_resume_at_offset": ("EM-12", #"{"offset_bytes":524288,"total_bytes":1048576}"#),
        "task.did_finish_downloading": ("EM-14", #"{"file":"/tmp/.report.pdf.k3f9.carpool-part"}"#),
        "request.did_create_destination_url": ("EM-41", #"{"file":"/tmp/report.pdf"}"#),
        "request.did_finish_downloading": ("EM-40", #"{"file":"/tmp/report.pdf"}"#),
        "request.progress": (nil, #"{"received_bytes":32768,"total_bytes":1048576}"#),
        "task.did_collect_metrics": ("EM-06", #"{"metrics":[]}"#),
        "task.did_complete": ("EM-07", #"{}"#),
        "task.is_waiting_for_connectivity": ("EM-08", #"{"status":"unsatisfied","reason":"no_route"}"#),
        "pool.connection_opened": (nil, #"{"connection":7,"origin":"https://example.com:443"}"#),
        "pool.connection_closed": (nil, #"{"connection":7,"origin":"https://example.com:443","transfers":12}"#),
        "reachability.changed": (nil, reachability),
        "daemon.config_reloaded": (nil, #"{"changed":["limits.journal_bytes"],"needs_restart":[]}"#),
        "daemon.draining": (nil, #"{"deadline_ms":30000}"#),
        "lagged": (nil, #"{"dropped":5120,"resume":"k3f9.10442"}"#),
        "bookmark": (nil, #"{}"#),
        "subscription.closed": (nil, #"{"reason":"request_finished"}"#),
        "notification.did_resume": ("NO-01", description),
        "notification.did_suspend": ("NO-02", description),
        "notification.did_cancel": ("NO-03", description),
        "notification.did_finish": ("NO-04", description),
        "notification.did_resume_task": ("NO-05", description),
        "notification.did_suspend_task": ("NO-06", description),
        "notification.did_cancel_task": ("NO-07", description),
        "notification.did_complete_task": ("NO-08", description),
    ]

    private static let description = #"{"description":"GET https://example.com/hello (200)"}"#

    private static let reachability = #"""
        {"level":"major","changed":["status","interface","ipv4"],"causes":["link"],\#
        "previous":{"seq":41,"status":"satisfied","interface":"eth0"},"first_event_ns":81240012345678,"latency_us":412,\#
        "removed_addresses":["192.0.2.7"],"reachability":{\#(ReachabilityMethods.snapshot)}}
        """#
}
