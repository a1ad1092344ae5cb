internal import CarpoolJSON

/// `daemon.*`: state, statistics and configuration of the daemon.
enum DaemonMethods {
    static let all: [Method] = [ping, info, stats, config, configReload, logLevel, drain, shutdown]

    private static let ping = Method(
        "daemon.ping", role: .observe, "Checks that the daemon answers.",
        "An answer shows that the daemon runs and its event loop is not blocked.",
        result: .answer([
            .required("pong", .boolean, "true."), .required("time", .time, "The daemon's clock."),
        ]),
        examples: [.init("a ping", result: #"{"pong":true,"time":"2026-09-30T10:00:00.123456Z"}"#)])

    private static let info = Method(
        "daemon.info", role: .observe, "Returns the daemon's identity, paths and libraries.",
        """
        `libcurl.profile` is `multiplex` if the library handles many HTTP/2 streams on a connection (8.14.1 and later), otherwise \
        `http1`: then HTTP/1.1 is used unless a session or request requires version 2.
        """,
        result: .answer([
            .required("server", .server, "The daemon."),
            .required("state", .choice("serving", "draining", "stopping"), "The state of the daemon."),
            .required("started", .time, "The time of its start."),
            .required("uid", .count, "The user that it runs as."),
            .required("socket", .string, "The socket that it listens on."),
            .required("configuration", .string, "The path of the configuration file, which may not exist."),
            .required("spool", .string, "The directory of large bodies."),
            .optional("responses", .string, "The directory of stored responses; absent if they are in memory alone."),
            .required("on_demand", .boolean, "Whether a client started it; then it exits when it is idle."),
            .required(
                "libcurl",
                .answer([
                    .required("version", .string, "The library's version."),
                    .required("profile", .choice("http1", "multiplex"), "How it is used."),
                    .required("http2", .boolean, "Whether HTTP/2 is used by default."),
                    .required(
                        "libraries", .string,
                        "The library and those that it uses with their versions, the one for TLS second, as curl_version(3) writes them."
                    ),
                ]), "The HTTP library."),
        ]),
        examples: [
            .init(
                "a daemon",
                result: """
                    {"server":{"name":"carpoold","version":"0.1.0","pid":4711,"epoch":"k3f9"},"state":"serving",\
                    "started":"2026-09-30T09:00:00.000000Z","uid":1000,"socket":"/run/user/1000/carpool/carpool.sock",\
                    "configuration":"/home/ada/.config/carpool/config.json","spool":"/home/ada/.cache/carpool/spool",\
                    "on_demand":true,"libcurl":{"version":"8.14.1","profile":"multiplex","http2":true,\
                    "libraries":"libcurl/8.14.1 OpenSSL/3.0.19 zlib/1.2.13"}}
                    """)
        ])

    private static let stats = Method(
        "daemon.stats", role: .observe, "Returns counters and the times of the event loop.",
        """
        `requests.active`, `requests.tasks` and `transfers.active` are 0 when nothing is running. `loop` has the lengths of the turns of \
        the event loop, since the start or since the last call with `reset`: the time between two polls, less the time in which the \
        daemon waited for a processor. `longest_turn_us` above 50,000 or `p999_turn_us` above 20,000 means that something blocked \
        the loop, which is a defect. `reset` requires the role `admin`.
        """,
        params: [
            .optional(
                "reset", .boolean, "Resets the figures of `loop`, except `turns`, after this answer.",
                default: "false")
        ],
        result: .answer([
            .required("uptime_ms", .count, "The time since the start."),
            group("connections", "Clients.", ["open", "accepted", "refused"]),
            group(
                "requests", "Requests: active, with the transport, kept, made and failed.",
                ["active", "tasks", "known", "made", "failed"]),
            group(
                "transfers", "Hops: active, waiting, finished, and finished on a reused connection.",
                ["active", "queued", "finished", "reused"]),
            group("spool", "Bodies in files.", ["bodies", "size_bytes"]),
            group(
                "events",
                """
                Live subscriptions, calls that wait for events, events that were built, that were dropped for slow readers, and \
                that the journal holds, with its memory.
                """, ["subscriptions", "waiting", "built", "dropped", "journal_events", "journal_bytes"]),
            group(
                "reachability",
                """
                Live watches, evaluations of the network, those with a reported change, messages of the kernel, times that the \
                kernel dropped some, and evaluations that failed.
                """, ["watches", "evaluations", "changes", "datagrams", "resyncs", "failures"]),
            .required("loop", loop, "The turns of the event loop."),
            group(
                "log", "Lines of the log that were dropped because standard error was blocked.",
                ["dropped_lines"]),
            group(
                "worker",
                """
                Jobs on files: threads that exist, jobs that run, that run for more than a second, that wait, the most that waited, \
                that were done, that were refused because too many waited, and the longest run, in microseconds.
                """,
                ["threads", "running", "stalled", "waiting", "most_waiting", "jobs", "refused", "longest_us"]),
            group(
                "callbacks",
                "Callbacks: waiting for an answer, sent, answered, failed, and answers that were late or unexpected.",
                ["waiting", "asked", "answered", "failed", "ignored"]),
            .required("sessions", .count, "Sessions, `default` included."),
        ]),
        examples: [
            .init(
                "a quiet daemon",
                result: """
                    {"uptime_ms":3600000,"connections":{"open":1,"accepted":40,"refused":0},"requests":{"active":0,"tasks":0,\
                    "known":3,"made":40,"failed":1},"transfers":{"active":0,"queued":0,"finished":41,"reused":39},\
                    "spool":{"bodies":0,"size_bytes":0},"events":{"subscriptions":0,"waiting":0,"built":0,"dropped":0,\
                    "journal_events":0,"journal_bytes":0},\
                    "reachability":{"watches":0,"evaluations":1,"changes":1,"datagrams":0,"resyncs":0,"failures":0},\
                    "loop":{"turns":512,"measured_turns":512,"longest_turn_us":830,"p50_turn_us":47,"p99_turn_us":319,"p999_turn_us":830,\
                    "waited_us":0,"slept_us":0,"longest_sleep_us":0,"histogram":[[63,420],[511,91],[1023,1]],"long_turns":[]},"log":{"dropped_lines":0},\
                    "worker":{"threads":1,"running":0,"stalled":0,"waiting":0,"most_waiting":1,"jobs":12,"refused":0,\
                    "longest_us":140},"callbacks":{"waiting":0,"asked":7,"answered":7,"failed":0,"ignored":0},\
                    "sessions":1}
                    """)
        ])

    private static let loop = JSONSchema.answer([
        .required("turns", .count, "Turns since the start."),
        .required("measured_turns", .count, "Turns that the other figures measure."),
        .required("longest_turn_us", .count, "The longest turn, in microseconds."),
        .required("p50_turn_us", .count, "The median."),
        .required("p99_turn_us", .count, "The 99th percentile."),
        .required("p999_turn_us", .count, "The 99.9th percentile."),
        .required(
            "waited_us", .count,
            """
            The time without a processor in turns of over 2 ms, because of other programs or of a virtual machine's host. It is \
            not part of their length.
            """),
        .required(
            "slept_us", .count,
            """
            The time asleep in turns of over 2 ms, such as for a lock or a disk: time in which the thread waited for something \
            other than events and a processor. It is part of their length, and up to a millisecond a turn too short.
            """),
        .required("longest_sleep_us", .count, "The longest time asleep in one turn."),
        .required(
            "histogram", .array(of: .array(of: .count, count: 2...2)),
            "Pairs of an upper bound in microseconds and the number of turns up to it, above the bound before it."),
        .required(
            "long_turns", .array(of: longTurn, count: 0...8),
            """
            The latest turns of more than 20 ms, the oldest first. A time in which a virtual machine's host stopped the machine is \
            part of a turn if the kernel does not account for it: compare `end_us` and `wall_us` with the host's record.
            """),
    ])

    private static let longTurn = JSONSchema.answer([
        .required("end_us", .count, "The end of the turn, in microseconds of the machine's monotonic clock."),
        .required("wall_us", .count, "The time from its beginning to its end, in microseconds."),
        .required("waited_us", .count, "The part of `wall_us` without a processor, which is not part of its length."),
        .required("slept_us", .count, "The part of `wall_us` in which the thread slept, which is part of its length."),
        .required("processor", .count, "The number of the processor on which it ended."),
    ])

    /// An object of counters.
    private static func group(
        _ name: StaticString, _ summary: String, _ counters: [StaticString]
    ) -> JSONSchema.Member {
        .required(name, .answer(counters.map { .required($0, .count, "A count.") }), summary)
    }

    private static let level = JSONSchema.choice("error", "warning", "info", "debug")

    private static let config = Method(
        "daemon.config", role: .observe, "Returns the configuration in effect.",
        "Includes defaults. The names are those of the configuration file; `session.list` returns its sessions.",
        result: .answer([
            .required("file", .string, "The path of the configuration file, which may not exist."),
            .required("log_level", level, "The level of the log."),
            .required(
                "idle_exit_ms", .count,
                "How long a daemon started on demand stays idle before it exits; 0: it does not exit."),
            .required("drain_ms", .count, "The default deadline of a drain."),
            .required("http2", .boolean, "Whether HTTP/2 may be used."),
            .required(
                "cache", .choice("use_protocol", "no_store"),
                "`no_store`: no session caches responses, whatever its configuration."),
            .required(
                "access",
                .answer([
                    .required(
                        "uids", .map(of: .choice("observe", "submit", "admin")),
                        "Roles by user id; all of them for an administrator, the caller's own for others."),
                    .required("sandboxed_network", .boolean, "Whether connections are made for sandboxed clients."),
                ]),
                "The access of other users."),
            .required("reachability", .map(of: .any), "How reachability is monitored."),
            .required("limits", .limits, "All limits."),
        ]),
        examples: [
            .init(
                "the defaults",
                result: """
                    {"file":"/home/ada/.config/carpool/config.json","log_level":"info","idle_exit_ms":900000,"drain_ms":30000,\
                    "http2":true,"cache":"use_protocol","access":{"uids":{},"sandboxed_network":true},"reachability":{"lost_after_ms":250,"back_after_ms":0,\
                    "resolv_conf":"/etc/resolv.conf"},"limits":{"message_bytes":1048576,"host_connections":6}}
                    """)
        ])

    private static let configReload = Method(
        "daemon.config_reload", role: .admin, "Loads the configuration file again.",
        """
        The same as SIGHUP, with the result in the answer. A file with an error is refused as a whole and changes nothing; so \
        is one that names a file which cannot be used.
        """,
        result: .answer([
            .required(
                "changed", .array(of: .string),
                "Settings that took effect. A declared session is `sessions.NAME`; more than 256 of them are `sessions`."
            ),
            .required(
                "needs_restart", .array(of: .string), "Settings that take effect at the next start."),
        ]), errors: [.configurationRefused],
        examples: [.init("nothing has changed", result: #"{"changed":[],"needs_restart":[]}"#)])

    private static let logLevel = Method(
        "daemon.log_level", role: .admin, "Returns or sets the level of the log.",
        "Lasts until the daemon ends or loads its configuration again. `debug` writes a line for each step of a request.",
        params: [.optional("level", level, "The new level. Without it the level does not change.")],
        result: .stateChange,
        examples: [.init("which is it?", result: #"{"changed":false,"state":"info"}"#)])

    private static let drain = Method(
        "daemon.drain", role: .admin, "Ends the daemon when its requests have finished.",
        """
        Refuses new requests with 1006 `draining`. Running requests may finish until the deadline; then they are cancelled. \
        Answers at once. A second drain ends the daemon at once. SIGTERM does the same.
        """,
        params: [
            .optional(
                "deadline_ms", .integer(0...3_600_000), "How long to wait. Default: `drain_ms` of the configuration.")
        ], result: .stateChange,
        examples: [
            .init(
                "within five seconds", params: #"{"deadline_ms":5000}"#, result: #"{"changed":true,"state":"draining"}"#
            )
        ])

    private static let shutdown = Method(
        "daemon.shutdown", role: .admin, "Ends the daemon at once.",
        "Cancels the running requests, and answers their callers. To let requests finish, use `daemon.drain`.",
        result: .stateChange, examples: [.init("now", result: #"{"changed":true,"state":"stopping"}"#)])
}
