internal import CarpoolJSON

/// `daemon.*`: the daemon about itself.
enum DaemonMethods {
    static let all: [Method] = [ping, info, stats, config, configReload, logLevel, drain, shutdown]

    private static let ping = Method(
        "daemon.ping", role: .observe, "Answers.", "Shows that the daemon is there and its loop turns.",
        result: .answer([
            .required("pong", .boolean, "true."), .required("time", .time, "The daemon's clock."),
        ]),
        examples: [.init("a ping", result: #"{"pong":true,"time":"2026-09-30T10:00:00.123456Z"}"#)])

    private static let info = Method(
        "daemon.info", role: .observe, "Tells which daemon this is, and what it runs with.",
        """
        `libcurl.profile` is `multiplex` if the library is fit for many HTTP/2 streams on a connection (8.14.1 and later), \
        else `http1`: then HTTP/1.1 is spoken unless a session or request asks for version 2.
        """,
        result: .answer([
            .required("server", .server, "The daemon."),
            .required("state", .choice("serving", "draining", "stopping"), "Where it is in its life."),
            .required("started", .time, "Since when it runs."),
            .required("uid", .count, "The user that it runs as."),
            .required("socket", .string, "The socket that it listens on."),
            .required("configuration", .string, "The configuration file, whether there is one or not."),
            .required("spool", .string, "The directory of large bodies."),
            .required("on_demand", .boolean, "Whether a client started it, so that it ends when nobody needs it."),
            .required(
                "libcurl",
                .answer([
                    .required("version", .string, "The library's version."),
                    .required("profile", .choice("http1", "multiplex"), "What it is used for."),
                    .required("http2", .boolean, "Whether HTTP/2 is spoken by default."),
                ]), "The HTTP library."),
        ]),
        examples: [
            .init(
                "a daemon",
                result: """
                    {"server":{"name":"carpoold","version":"0.1.0","pid":4711,"epoch":"k3f9"},"state":"serving",\
                    "started":"2026-09-30T09:00:00.000000Z","uid":1000,"socket":"/run/user/1000/carpool/carpool.sock",\
                    "configuration":"/home/ada/.config/carpool/config.json","spool":"/home/ada/.local/state/carpool/spool",\
                    "on_demand":true,"libcurl":{"version":"8.14.1","profile":"multiplex","http2":true}}
                    """)
        ])

    private static let stats = Method(
        "daemon.stats", role: .observe, "Counts what the daemon has and has done.",
        """
        `requests.active`, `requests.tasks` and `transfers.active` are 0 when nothing is under way. `loop` tells how long the turns of the \
        event loop were, since the start or since the last call with `reset`: the time between two looks at the sockets, less the time in \
        which the daemon waited for a processor. `longest_turn_us` above 50,000 or `p999_turn_us` above 20,000 means that something held \
        the loop, which is a defect. `reset` takes the role `admin`.
        """,
        params: [
            .optional(
                "reset", .boolean, "Whether the figures of `loop`, but for `turns`, begin again after this answer.",
                default: "false")
        ],
        result: .answer([
            .required("uptime_ms", .count, "How long it has run."),
            group("connections", "Clients.", ["open", "accepted", "refused"]),
            group(
                "requests", "Requests: under way, with the network, kept, made and failed.",
                ["active", "tasks", "known", "made", "failed"]),
            group(
                "transfers", "Hops: on the network, waiting, finished, and finished on a connection that was there.",
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
                Live watches, looks at the network, those that gave something worth telling, messages of the kernel, times that \
                it had to throw some away, and looks that failed.
                """, ["watches", "evaluations", "changes", "datagrams", "resyncs", "failures"]),
            .required("loop", loop, "The turns of the event loop."),
            group(
                "log", "Lines of the log that were dropped because standard error did not take them.",
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
                "Questions to clients: waiting for an answer, asked, answered, failed, and answers that came too late or to none.",
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
                    "waited_us":0,"histogram":[[63,420],[511,91],[1023,1]]},"log":{"dropped_lines":0},\
                    "worker":{"threads":1,"running":0,"stalled":0,"waiting":0,"most_waiting":1,"jobs":12,"refused":0,\
                    "longest_us":140},"callbacks":{"waiting":0,"asked":7,"answered":7,"failed":0,"ignored":0},\
                    "sessions":1}
                    """)
        ])

    private static let loop = JSONSchema.answer([
        .required("turns", .count, "Turns since the start."),
        .required("measured_turns", .count, "Turns that the other figures are about."),
        .required("longest_turn_us", .count, "The longest, in microseconds."),
        .required("p50_turn_us", .count, "What half of them do not exceed."),
        .required("p99_turn_us", .count, "What 99 % of them do not exceed."),
        .required("p999_turn_us", .count, "What 99.9 % of them do not exceed."),
        .required(
            "waited_us", .count,
            """
            How long the daemon had no processor in turns of over 2 ms, because of other programs or of a virtual machine's host; it \
            is not part of their length.
            """),
        .required(
            "histogram", .array(of: .array(of: .count, count: 2...2)),
            "Pairs of an upper bound in microseconds and the number of turns up to it, above the bound before it."),
    ])

    /// An object of counters.
    private static func group(
        _ name: StaticString, _ summary: String, _ counters: [StaticString]
    ) -> JSONSchema.Member {
        .required(name, .answer(counters.map { .required($0, .count, "A count.") }), summary)
    }

    private static let level = JSONSchema.choice("error", "warning", "info", "debug")

    private static let config = Method(
        "daemon.config", role: .observe, "Tells the configuration in effect.",
        "Defaults included. The names are those of the configuration file.",
        result: .answer([
            .required("file", .string, "The configuration file, whether there is one or not."),
            .required("log_level", level, "How much is logged."),
            .required("idle_exit_ms", .count, "How long a daemon started on demand stays unneeded; 0: for ever."),
            .required("drain_ms", .count, "How long a drain waits."),
            .required("http2", .boolean, "Whether HTTP/2 may be spoken."),
            .required(
                "access",
                .answer([
                    .required(
                        "uids", .map(of: .choice("observe", "submit", "admin")),
                        "Roles by user id; all of them for an administrator, the caller's own for others."),
                    .required("sandboxed_network", .boolean, "Whether connections are made for sandboxed clients."),
                ]),
                "Other users that may speak to the daemon."),
            .required("reachability", .map(of: .any), "How the network is watched."),
            .required("limits", .limits, "Every maximum."),
        ]),
        examples: [
            .init(
                "the defaults",
                result: """
                    {"file":"/home/ada/.config/carpool/config.json","log_level":"info","idle_exit_ms":900000,"drain_ms":30000,\
                    "http2":true,"access":{"uids":{},"sandboxed_network":true},"reachability":{"lost_after_ms":250,"back_after_ms":0,\
                    "resolv_conf":"/etc/resolv.conf"},"limits":{"message_bytes":1048576,"host_connections":6}}
                    """)
        ])

    private static let configReload = Method(
        "daemon.config_reload", role: .admin, "Reads the configuration file again.",
        """
        The same as SIGHUP, but the answer says what came of it. A file with a mistake is refused as a whole and changes \
        nothing.
        """,
        result: .answer([
            .required("changed", .array(of: .string), "Settings that have taken effect."),
            .required(
                "needs_restart", .array(of: .string), "Settings that differ but take effect with the next start."),
        ]), errors: [.configurationRefused],
        examples: [.init("nothing has changed", result: #"{"changed":[],"needs_restart":[]}"#)])

    private static let logLevel = Method(
        "daemon.log_level", role: .admin, "Tells or sets how much is logged.",
        "Lasts until the daemon ends or its configuration is read again. `debug` writes a line for each step of a request.",
        params: [.optional("level", level, "The new level. Absent: only tell.")], result: .stateChange,
        examples: [.init("which is it?", result: #"{"changed":false,"state":"info"}"#)])

    private static let drain = Method(
        "daemon.drain", role: .admin, "Ends the daemon when its work is done.",
        """
        New requests are refused with 1006 `draining`; those under way may finish until the deadline, then they are \
        cancelled. Answers at once. A second drain ends the daemon at once. SIGTERM does the same.
        """,
        params: [
            .optional(
                "deadline_ms", .integer(0...3_600_000), "How long to wait. Absent: `drain_ms` of the configuration.")
        ], result: .stateChange,
        examples: [
            .init(
                "within five seconds", params: #"{"deadline_ms":5000}"#, result: #"{"changed":true,"state":"draining"}"#
            )
        ])

    private static let shutdown = Method(
        "daemon.shutdown", role: .admin, "Ends the daemon now.",
        "What is under way is cancelled, and its callers are told. To let work finish, use `daemon.drain`.",
        result: .stateChange, examples: [.init("now", result: #"{"changed":true,"state":"stopping"}"#)])
}
