internal import CarpoolJSON
public import CarpoolRPC
public import CarpoolSystem
internal import Glibc

/// The configuration file, which is checked as a whole before any of it takes effect.
public struct ServerConfiguration: Equatable, Sendable {
    /// Every maximum.
    public var limits = Limits()
    /// Other users and their roles.
    public var roles: [UInt32: Role] = [:]
    /// Whether connections are made for clients in containers and sandboxes.
    public var allowsSandboxedNetwork = true
    /// How much is logged.
    public var logLevel = Log.Level.info
    /// How long a daemon that was started on demand stays idle.
    public var idleExitMilliseconds = 900_000
    /// How long a drain waits for active requests.
    public var drainMilliseconds = 30_000
    /// Whether HTTP/2 is used if libcurl supports multiplexing.
    public var allowsHTTP2 = true
    /// Whether no session has a cache.
    public var turnsCacheOff = false
    /// How the network is watched.
    public var reachability = ReachabilitySettings()
    /// The declared sessions, until they are made: the table of sessions has them from then on.
    var sessions: [DeclaredSession] = []

    /// The defaults.
    public init() {}

    /// The largest file that is read: a configuration is a page, not a database.
    private static let maximumBytes = 262_144

    /// The settings that take effect only with the next start, by their names in the file.
    static let restartOnly: Set<String> = [
        "http2", "cache", "limits.cache_memory_bytes", "limits.cache_disk_bytes", "limits.host_connections",
        "limits.host_connections_per_client", "limits.long_host_connections",
        "limits.long_host_connections_per_client", "limits.paused_transfers", "limits.partitions_per_user",
        "limits.total_connections", "limits.streams_per_connection", "limits.queued_requests",
    ]

    /// The file's form.
    static let schema = JSONSchema.object(
        [
            .init(
                "limits",
                .object(
                    Limits.fields.map { field in
                        .init(
                            field.name, .integer(Int64(field.range.lowerBound)...Int64(field.range.upperBound)),
                            field.reason)
                    }),
                "Maxima, by name."),
            .init(
                "access",
                .object([
                    .init(
                        "uids", .map(of: .choice("observe", "submit", "admin"), maxCount: 10_000), "Role by user id."),
                    .init(
                        "sandboxed_network", .boolean,
                        "Whether connections are made for clients in another root, mount, network or user namespace."
                    ),
                ]),
                "Who may connect to the daemon, and with which role."),
            .init("log_level", .choice("error", "warning", "info", "debug"), "How much is logged."),
            .init(
                "idle_exit_ms", .integer(0...2_592_000_000),
                "How long a daemon that was started on demand stays idle before it exits; 0: it does not exit."),
            .init("drain_ms", .integer(0...3_600_000), "The default deadline of a drain."),
            .init("http2", .boolean, "Whether HTTP/2 may be used."),
            .init(
                "cache", .choice("use_protocol", "no_store"),
                "no_store turns the caches of all sessions off."),
            .init("reachability", ReachabilitySettings.schema, "How reachability is monitored."),
            // Their secrets may be files, which are read first: DeclaredSessionReader checks each configuration.
            .init("sessions", .map(of: .any), "Sessions of the daemon's user, by name."),
        ])

    /// Reads a file; without a file the defaults apply. Limits of what costs a descriptor are lowered to what the
    /// process may open. May block, as the file system does.
    public static func read(from path: String) throws(ServerError) -> ServerConfiguration {
        var configuration = try readAsWritten(path)
        configuration.limits.fit(openFiles: ResourceLimits.openFiles)
        return configuration
    }

    private static func readAsWritten(_ path: String) throws(ServerError) -> ServerConfiguration {
        guard let bytes = try contents(of: path) else { return ServerConfiguration() }
        do throws(JSONError) {
            let json = try JSON.parse(bytes)
            try schema.validate(json, path: "configuration")
            return try ServerConfiguration(checked: json)
        } catch {
            throw ServerError("\(path): \(ServerConfiguration.describe(error))")
        }
    }

    /// An error of the file's content on one line: the place, what is wrong, what is expected.
    static func describe(_ error: JSONError) -> String {
        if let line = error.line { return "line \(line): \(error.message)" }
        let expected = error.expected.map { "; expected \($0)" } ?? ""
        let nearest = error.didYouMean.map { "; did you mean \($0)?" } ?? ""
        return "\(error.path ?? "configuration"): \(error.message)\(expected)\(nearest)"
    }

    /// The file's bytes; `nil` if there is none. Type and owner are checked on the descriptor that is read.
    private static func contents(of path: String) throws(ServerError) -> [UInt8]? {
        let file: RegularFile
        do throws(RegularFile.Failure) {
            file = try RegularFile.open(path)
        } catch {
            if case .unreachable(let reason) = error, reason.code == ENOENT { return nil }
            if case .notRegular = error {
                throw ServerError("cannot read the configuration: \(path) is no regular file")
            }
            throw ServerError("cannot read the configuration: \(error.reason)")
        }
        try checkOwner(of: file, path)
        do throws(SystemError) {
            return try Bytes.readAll(file.descriptor.raw, atMost: maximumBytes, path: path)
        } catch {
            throw ServerError("cannot read the configuration: \(error)")
        }
    }

    /// The file says who may use the daemon, so only the daemon's user and root may be able to write it.
    private static func checkOwner(of file: borrowing RegularFile, _ path: String) throws(ServerError) {
        let own = geteuid()
        guard let fault = FileOwnership.fault(of: file, isSecret: false) else { return }
        let reason =
            switch fault {
            case .owner: "a configuration must belong to the daemon's user \(own) or to root (chown \(own))"
            case .writable, .readable: "a configuration decides who may use the daemon (chmod go-w)"
            }
        throw ServerError("\(path) \(fault.description): \(reason)")
    }

    private init(checked json: JSON) throws(JSONError) {
        if let limits = json["limits"] {
            for field in Limits.fields {
                if let value = limits[field.name]?.int { self.limits[keyPath: field.path] = value }
            }
        }
        try json["access"]?["uids"]?.forEachMember { (uid: String, role: JSON) throws(JSONError) in
            guard let number = UInt32(uid), let role = role.string.flatMap(Role.init(rawValue:)) else {
                var error = JSONError(.schema, "\(uid) is no user id")
                error.path = "configuration.access.uids.\(uid)"
                error.expected = "a numeric user id as the name"
                throw error
            }
            roles[number] = role
        }
        if let value = json["access"]?["sandboxed_network"]?.bool { allowsSandboxedNetwork = value }
        if let level = json["log_level"]?.string.flatMap(Log.Level.init(rawValue:)) { logLevel = level }
        if let value = json["idle_exit_ms"]?.int { idleExitMilliseconds = value }
        if let value = json["drain_ms"]?.int { drainMilliseconds = value }
        if let value = json["http2"]?.bool { allowsHTTP2 = value }
        turnsCacheOff = json["cache"]?.isString("no_store") ?? false
        if let section = json["reachability"] { reachability = try ReachabilitySettings(checked: section) }
        if let section = json["sessions"] {
            var reader = DeclaredSessionReader(limits)
            sessions = try reader.sessions(section)
        }
    }

    /// Leaves the settings that wait for a restart as they are in force.
    mutating func keepWhatNeedsRestart(of old: ServerConfiguration) {
        for field in Limits.fields where ServerConfiguration.restartOnly.contains("limits.\(field.name)") {
            limits[keyPath: field.path] = old.limits[keyPath: field.path]
        }
        allowsHTTP2 = old.allowsHTTP2
        turnsCacheOff = old.turnsCacheOff
    }

    /// The settings that differ, by their names in the file.
    func differences(from other: ServerConfiguration) -> [String] {
        var names = Limits.fields.filter { limits[keyPath: $0.path] != other.limits[keyPath: $0.path] }.map {
            "limits.\($0.name)"
        }
        if roles != other.roles { names.append("access.uids") }
        if allowsSandboxedNetwork != other.allowsSandboxedNetwork { names.append("access.sandboxed_network") }
        if logLevel != other.logLevel { names.append("log_level") }
        if idleExitMilliseconds != other.idleExitMilliseconds { names.append("idle_exit_ms") }
        if drainMilliseconds != other.drainMilliseconds { names.append("drain_ms") }
        if allowsHTTP2 != other.allowsHTTP2 { names.append("http2") }
        if turnsCacheOff != other.turnsCacheOff { names.append("cache") }
        if reachability != other.reachability { names.append("reachability") }
        return names
    }
}

extension ServerConfiguration {
    /// The users that the socket's mode admits; the credentials decide in any case.
    public var audience: SocketAudience { roles.isEmpty ? .owner : .everyone }
}
