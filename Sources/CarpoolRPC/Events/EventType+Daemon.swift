internal import CarpoolJSON

// Sessions, the pool, the network, the daemon, and the protocol itself.
extension EventType {
    static let daemonRows: [EventDescription] = [
        EventDescription(
            .sessionDidBecomeInvalid, "session.did_become_invalid", "EM-01",
            "A session was invalidated, and its last request has ended."),
        EventDescription(
            .poolConnectionOpened, "pool.connection_opened", nil, "A connection to an origin was opened.",
            EventMembers.connection, example: #"{"connection":7,"origin":"https://example.com:443"}"#),
        EventDescription(
            .poolConnectionClosed, "pool.connection_closed", nil, "A connection to an origin was closed.",
            EventMembers.connection + [.required("transfers", .count, "The number of transfers that it served.")],
            example: #"{"connection":7,"origin":"https://example.com:443","transfers":12}"#),
        EventDescription(
            .reachabilityChanged, "reachability.changed", nil, "The network changed, was lost or came back.",
            JSONSchema.reachabilityChange, example: reachability),
        EventDescription(
            .daemonConfigReloaded, "daemon.config_reloaded", nil,
            """
            The configuration was loaded again. Changes of declared sessions are an event of their own, which only clients of \
            the daemon's user and administrators receive.
            """,
            [
                .required(
                    "changed", .array(of: .string),
                    "Settings that took effect. A declared session is `sessions.NAME`; more than 256 are `sessions`."),
                .required("needs_restart", .array(of: .string), "Settings that take effect at the next start."),
            ],
            example: #"{"changed":["limits.journal_bytes"],"needs_restart":[]}"#),
        EventDescription(
            .daemonDraining, "daemon.draining", nil, "The daemon is shutting down.",
            [.required("deadline_ms", .count, "The time that running requests have left.")],
            example: #"{"deadline_ms":30000}"#),
    ]

    // MARK: Notifications

    /// Steps of a request, repeated under the names that the session model gives its notifications.
    static let notificationRows: [EventDescription] = [
        notification(.notificationDidResume, "notification.did_resume", "NO-01", after: "request.did_resume"),
        notification(.notificationDidSuspend, "notification.did_suspend", "NO-02", after: "request.did_suspend"),
        notification(.notificationDidCancel, "notification.did_cancel", "NO-03", after: "request.did_cancel"),
        notification(.notificationDidFinish, "notification.did_finish", "NO-04", after: "request.did_finish"),
        notification(
            .notificationDidResumeTask, "notification.did_resume_task", "NO-05", after: "request.did_resume_task"),
        notification(
            .notificationDidSuspendTask, "notification.did_suspend_task", "NO-06", after: "request.did_suspend_task"),
        notification(
            .notificationDidCancelTask, "notification.did_cancel_task", "NO-07", after: "request.did_cancel_task"),
        notification(
            .notificationDidCompleteTask, "notification.did_complete_task", "NO-08", after: "request.did_complete_task"),
    ]

    private static func notification(
        _ type: EventType, _ name: StaticString, _ model: String, after step: StaticString
    ) -> EventDescription {
        EventDescription(
            type, name, model,
            "Sent right after `\(step)`, only to subscriptions whose pattern begins with `notification.`.",
            [.required("description", .string, "Method, URL and, once it is known, status of the request.")],
            example: #"{"description":"GET https://example.com/hello (200)"}"#)
    }

    // MARK: The protocol's own

    /// Events that every subscription gets, whatever it asked for. None of them is in the journal.
    static let protocolRows: [EventDescription] = [
        EventDescription(
            .lagged, "lagged", nil,
            "Events were dropped because the client did not read; the following events come after them.",
            [
                .required("dropped", .count, "The number of events that were dropped."),
                .required(
                    "resume", .string,
                    "The cursor before the first of them: `since` returns them while the journal has them."),
            ],
            example: #"{"dropped":5120,"resume":"k3f9.10442"}"#),
        EventDescription(.bookmark, "bookmark", nil, "No event that matches the filter happened up to this cursor."),
        EventDescription(
            .subscriptionClosed, "subscription.closed", nil, "The daemon ended the subscription.",
            [
                .required("reason", .choice("request_finished", "lagged", "connection_closing"), "The cause."),
                .optional("dropped", .count, "The number of events that were dropped, if the client did not read."),
                .optional("resume", .string, "The cursor before the first of them."),
            ],
            example: #"{"reason":"request_finished"}"#),
    ]

    private static let reachability = #"""
        {"level":"major","changed":["status","interface","ipv4"],"causes":["link"],\#
        "previous":{"seq":41,"status":"satisfied","interface":"eth0"},"first_event_ns":81240012345678,"latency_us":412,\#
        "removed_addresses":["192.0.2.7"],"reachability":{\#(ReachabilityMethods.snapshot)}}
        """#
}
