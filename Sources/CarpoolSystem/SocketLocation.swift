internal import Glibc

/// The location of the daemon's socket, and the rule that chose it: the same decision for the daemon and all of its
/// clients.
public struct SocketLocation: Equatable, Sendable {
    /// The rule that decided, in the order in which they are tried.
    public enum Rule: Equatable, Sendable {
        /// The caller named it (`--socket`).
        case option
        /// `$CARPOOL_SOCKET` names it.
        case variable
        /// `$XDG_RUNTIME_DIR` is set, and its directory belongs to this user and has mode 0700.
        case runtimeDirectory
        /// `/run/user/<uid>` exists and belongs to this user, although the variable is unset (cron, ssh, sudo -u).
        case userRuntimeDirectory
        /// There is no runtime directory: the state directory.
        case state
        /// The state directory's path is too long for a socket: `/tmp/carpool-<uid>`.
        case temporary
    }

    /// The socket's absolute path.
    public let path: String
    /// The rule that chose the path.
    public let rule: Rule
    /// The lock of the daemon there: one per user, or one per socket when the caller chose the socket.
    public let lockPath: String
    /// The directories that contain the socket and must belong to this user, outermost first; empty for a path that the
    /// caller chose.
    let directories: [String]
    /// The directory that contains the lock; `nil` if the caller chose the path, whose directory is not created.
    let lockDirectory: String?

    /// Whether the caller chose the path. Then no daemon is started on demand.
    public var isExplicit: Bool { rule == .option || rule == .variable }

    /// Decides where this user's socket is, or uses the caller's path. It reads directories and changes nothing.
    public static func resolve(option: String? = nil) -> SocketLocation {
        resolve(option: option, environment: .process, uid: geteuid()) { PrivateDirectory.inspect($0) }
    }

    static func resolve(
        option: String?, environment: Environment, uid: UInt32, inspect: (String) -> DirectoryState
    ) -> SocketLocation {
        if let option { return SocketLocation(explicit: option, rule: .option) }
        if let variable = environment.ownPath("CARPOOL_SOCKET") {
            return SocketLocation(explicit: variable, rule: .variable)
        }
        let homes = Directories(environment: environment, uid: uid)
        if let runtime = environment.path("XDG_RUNTIME_DIR"), inspect(runtime) == .ours(mode: 0o700) {
            return SocketLocation(below: ["\(runtime)/carpool"], rule: .runtimeDirectory, homes)
        }
        if case .ours = inspect("/run/user/\(uid)") {
            return SocketLocation(below: ["/run/user/\(uid)/carpool"], rule: .userRuntimeDirectory, homes)
        }
        let state = SocketLocation(below: [homes.state, "\(homes.state)/run"], rule: .state, homes)
        guard state.path.utf8.count > UnixSocket.maximumPathBytes else { return state }
        return SocketLocation(below: [homes.temporary], rule: .temporary, homes)
    }

    private init(explicit path: String, rule: Rule) {
        self.path = SocketLocation.absolute(path)
        self.rule = rule
        lockPath = self.path + ".lock"
        directories = []
        lockDirectory = nil
    }

    private init(below directories: [String], rule: Rule, _ homes: Directories) {
        path = (directories.last ?? homes.temporary) + "/carpool.sock"
        self.rule = rule
        self.directories = directories
        lockPath = homes.lock
        lockDirectory = homes.state
    }

    /// The absolute form of a path; a relative one is relative to the working directory.
    public static func absolute(_ path: String) -> String {
        guard path.utf8.first != UInt8(ascii: "/"), let here = getcwd(nil, 0) else { return path }
        defer { free(here) }
        return SystemPath.text(here) + "/" + path
    }

    /// The directories that must belong to this user, outermost first, whether they exist or not; none for a path that
    /// the caller chose.
    public var privateDirectories: [String] {
        guard let lockDirectory, directories.first != lockDirectory else { return directories }
        return [lockDirectory] + directories
    }

    /// Creates the directories of the socket and of the lock; refuses those of another user.
    ///
    /// Directories are 0700, or 0755 if other users are to reach the socket. For a path that the caller chose, none is
    /// created.
    public func prepare(for audience: SocketAudience = .owner) throws(SystemError) {
        if let lockDirectory { try PrivateDirectory.create(lockDirectory) }
        for directory in directories { try PrivateDirectory.create(directory, mode: audience.directoryMode) }
    }
}

extension SocketLocation.Rule: CustomStringConvertible {
    /// The reason, to be read after the path.
    public var description: String {
        switch self {
        case .option: "named by --socket"
        case .variable: "named by $CARPOOL_SOCKET"
        case .runtimeDirectory: "below $XDG_RUNTIME_DIR, which belongs to this user and has mode 0700"
        case .userRuntimeDirectory: "below the user's runtime directory, although $XDG_RUNTIME_DIR does not name it"
        case .state:
            "in the state directory, because neither $XDG_RUNTIME_DIR nor /run/user/UID is a directory of this user with mode 0700"
        case .temporary: "below /tmp, because the state directory's path is too long for a socket"
        }
    }
}
