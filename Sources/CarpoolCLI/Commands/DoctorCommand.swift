internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// `carpool doctor`: checks the installation and prints what is wrong and how to fix it; with a URL, prints the
/// settings of the connection that a request would use. It sends nothing.
enum DoctorCommand: Command {
    static let name = "doctor"
    static let synopsis = "[OPTIONS] [URL]"
    static let summary = "check the installation, or explain the connection of a request"
    static let details = """
        Without a URL: each line is ok, warn or fail, with a fix where one is known. The exit code is 1 if a
        line is fail. With a URL: each line is a setting of the connection that 'carpool get' with the same
        options would use, and where it was set. Nothing is sent.
        """

    static var examples: [String] {
        ["carpool doctor", "carpool doctor https://example.com/", "carpool doctor --session work https://example.com/"]
    }

    /// Those of `get`, so that its command line can be explained as it is.
    static var options: [Option<RequestArguments>] { GetCommand.options }

    static var arguments: RequestArguments { RequestArguments(method: "GET") }

    static func add(_ operand: String, to arguments: inout RequestArguments) throws(UsageError) {
        guard arguments.url.isEmpty else { throw UsageError("doctor takes one URL, not also '\(operand)'") }
        guard !operand.isEmpty else { throw UsageError("the URL is empty") }
        arguments.url = RequestArguments.withScheme(operand)
    }

    static func validate(_ arguments: RequestArguments) throws(UsageError) {
        guard arguments.url.isEmpty else { return try GetCommand.validate(arguments) }
        var others = arguments
        others.socket = nil
        guard others == self.arguments else {
            throw UsageError("doctor requires a URL with the options of a request")
        }
    }

    static func run(_ arguments: RequestArguments) throws(Failure) -> ExitCode {
        guard arguments.url.isEmpty else {
            var complete = arguments
            try complete.nameOutput()
            try complete.readIdentity()
            return try Failure.naming(of: complete) { () throws(Failure) in try explain(complete) }
        }
        let location = SocketLocation.resolve(option: arguments.socket)
        var findings = Findings()
        findings.socket(location)
        findings.lock(location)
        findings.daemon(location)
        findings.certificates()
        findings.lingering(location)
        try Terminal.print(findings.text)
        return findings.hasFailure ? .refused : .success
    }

    private static func explain(_ arguments: RequestArguments) throws(Failure) -> ExitCode {
        var arguments = arguments
        try arguments.readCallerFiles()
        let query = try PlanQuery(arguments, try DaemonAccess(socket: arguments.socket))
        let plan = try query.run()
        let place = arguments.credential.logins == nil ? "command line" : ".netrc"
        try Terminal.print(
            ConnectionPlanReport(
                plan, credentialPlace: place, trustVariable: arguments.trust.orAuthorities(of: .process).variable,
                printsWhileItArrives: query.printsWhileItArrives
            ).text)
        return .success
    }
}

/// The report: lines of ok, warn or fail, with a fix where one is known.
private struct Findings {
    private(set) var text = ""
    private(set) var hasFailure = false

    /// The trusted certificate authorities of Debian and most other distributions.
    private static let certificatesPath = "/etc/ssl/certs/ca-certificates.crt"

    private mutating func ok(_ what: String, _ finding: String) { add("ok  ", what, finding) }
    private mutating func warn(_ what: String, _ finding: String) { add("warn", what, finding) }
    private mutating func fail(_ what: String, _ finding: String) {
        hasFailure = true
        add("fail", what, finding)
    }

    private mutating func add(_ status: String, _ what: String, _ finding: String) {
        let padding = String(repeating: " ", count: max(1, 13 - what.utf8.count))
        text += "\(status)  \(what)\(padding)\(PlainText.escaped(finding))\n"
    }

    mutating func socket(_ location: SocketLocation) {
        let length = location.path.utf8.count
        let most = UnixSocket.maximumPathBytes
        guard length <= most else {
            return fail(
                "socket",
                "\(location.path) has \(length) bytes; the path of a Unix socket has at most \(most); set $CARPOOL_SOCKET"
            )
        }
        ok("socket", "\(location.path), \(location.rule)")
        permissions(location)
    }

    private mutating func permissions(_ location: SocketLocation) {
        for directory in location.privateDirectories {
            switch PrivateDirectory.inspect(directory) {
            case .absent: writability(directory)
            case .foreign: fail("permissions", Findings.foreign(directory))
            case .ours(mode: 0o700): break
            case .ours(let mode): warn("permissions", "\(directory) has mode 0\(String(mode, radix: 8)), not 0700")
            }
        }
        var info = stat()
        guard lstat(location.path, &info) == 0 else { return }
        let mode = "0\(String(info.st_mode & 0o777, radix: 8))"
        if info.st_mode & S_IFMT != S_IFSOCK {
            fail("permissions", "\(location.path) is not a socket; remove it")
        } else if info.st_mode & 0o077 != 0 {
            warn(
                "permissions",
                "socket mode \(mode): other users can connect; the daemon admits only those in access.uids")
        } else {
            ok("permissions", "socket mode \(mode), uid \(info.st_uid)")
        }
    }

    /// Why a path is no directory of this user.
    private static func foreign(_ directory: String) -> String {
        var info = stat()
        guard lstat(directory, &info) == 0 else {
            return "\(directory) cannot be created: \(SystemError.reason(of: errno)); set $XDG_STATE_HOME"
        }
        return "\(directory) belongs to another user; remove it or set $CARPOOL_SOCKET"
    }

    /// Checks that a missing directory can be created.
    private mutating func writability(_ directory: String) {
        var parent = directory[...]
        repeat {
            parent = parent.lastIndex(of: "/").map { parent[..<$0] } ?? ""
        } while !parent.isEmpty && access(String(parent), F_OK) != 0
        let existing = parent.isEmpty ? "/" : String(parent)
        if access(existing, W_OK | X_OK) != 0 {
            fail(
                "permissions",
                "\(directory) cannot be created: \(existing) is not writable for this user; set $XDG_STATE_HOME")
        }
    }

    mutating func lock(_ location: SocketLocation) {
        do throws(SystemError) {
            switch try InstanceLock.state(at: location.lockPath) {
            case .free: ok("lock", "\(location.lockPath) is free")
            case .held(nil): warn("lock", "\(location.lockPath) is held by a daemon that is just starting or ending")
            case .held(let holder?):
                ok("lock", "\(location.lockPath) is held by pid \(holder.pid), socket \(holder.socketPath)")
            }
        } catch {
            fail("lock", "\(error)")
        }
    }

    mutating func daemon(_ location: SocketLocation) {
        do throws(ClientError) {
            let client = try DaemonClient(DaemonFinder(location: location, launcher: nil))
            describe(try client.call("daemon.info"))
        } catch {
            guard case .unreachable = error, (try? InstanceLock.state(at: location.lockPath)) == .free else {
                return fail("daemon", Failure(error).message ?? "unreachable")
            }
            guard let program = DaemonLauncher.findProgram() else {
                return fail("daemon", "no daemon runs, and carpoold is neither beside carpool nor on PATH; install it")
            }
            if location.isExplicit {
                fail(
                    "daemon",
                    "no daemon listens at \(location.path); start it with: carpool daemon start --socket \(location.path)"
                )
            } else {
                ok("daemon", "no daemon runs; the first request starts \(program)")
            }
        }
    }

    private mutating func describe(_ info: JSON) {
        let version = info["server"]?["version"]?.string ?? "?"
        let pid = info["server"]?["pid"]?.integer ?? 0
        if version == Release.version {
            ok("daemon", "version \(version), pid \(pid)")
        } else {
            warn("daemon", "version \(version), carpool is \(Release.version); carpool daemon restart")
        }
        let library = info["libcurl"]?["version"]?.string ?? "?"
        if info["libcurl"]?["profile"]?.string == "multiplex" {
            ok("libcurl", "\(library), HTTP/2 with many requests on one connection")
        } else {
            warn(
                "libcurl",
                "\(library) has faulty HTTP/2 multiplexing, so HTTP/1.1 is used; install libcurl 8.14.1 or newer")
        }
    }

    mutating func certificates() {
        if access(Findings.certificatesPath, R_OK) == 0 {
            ok("certificates", Findings.certificatesPath)
        } else {
            fail("certificates", "\(Findings.certificatesPath) cannot be read; apt-get install ca-certificates")
        }
    }

    /// Checks lingering. Without it systemd ends the daemon with the user's last session.
    mutating func lingering(_ location: SocketLocation) {
        guard location.path.hasPrefix("/run/user/"), access("/run/systemd/system", F_OK) == 0,
            let user = Environment.process["USER"] ?? Environment.process["LOGNAME"], user != "root"
        else { return }
        if access("/var/lib/systemd/linger/\(user)", F_OK) == 0 {
            ok("lingering", "on: the daemon outlives the user's sessions")
        } else {
            warn("lingering", "off: the daemon ends with the user's last session; loginctl enable-linger \(user)")
        }
    }
}
