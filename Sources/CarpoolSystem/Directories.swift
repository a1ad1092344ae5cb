/// The directories of a user's Carpool files: those of the XDG Base Directory Specification, each with `carpool` below
/// it.
public struct Directories: Equatable, Sendable {
    /// The directory of the lock, the log and, without a runtime directory, the socket.
    public private(set) var state: String
    /// `config.json`.
    public private(set) var configuration: String
    /// The cache directory, `$XDG_CACHE_HOME/carpool`: the spool. Its files may be deleted at any time.
    public private(set) var cache: String
    /// The fallback directory, which must not have been made by another user: `/tmp/carpool-<uid>`.
    public let temporary: String

    /// Uses the variables XDG_STATE_HOME, XDG_CONFIG_HOME, XDG_CACHE_HOME and HOME; without HOME everything that has
    /// no variable of its own is in ``temporary``.
    public init(environment: Environment, uid: UInt32) {
        temporary = "/tmp/carpool-\(uid)"
        let home = environment.path("HOME")
        state =
            environment.path("XDG_STATE_HOME").map { "\($0)/carpool" }
            ?? home.map { "\($0)/.local/state/carpool" } ?? temporary
        configuration =
            environment.path("XDG_CONFIG_HOME").map { "\($0)/carpool" }
            ?? home.map { "\($0)/.config/carpool" } ?? "\(temporary)/config"
        cache =
            environment.path("XDG_CACHE_HOME").map { "\($0)/carpool" }
            ?? home.map { "\($0)/.cache/carpool" } ?? "\(temporary)/cache"
    }

    /// The same directories, with the fallback in place of each that another user could replace
    /// (``PathOwnership``), such as those in another user's home directory.
    public var own: Directories {
        var own = self
        if PathOwnership.foreignPart(of: state) != nil { own.state = temporary }
        if PathOwnership.foreignPart(of: configuration) != nil { own.configuration = "\(temporary)/config" }
        if PathOwnership.foreignPart(of: cache) != nil { own.cache = "\(temporary)/cache" }
        return own
    }

    /// The file that a daemon writes its log to when the command line tool has started it.
    public var log: String { "\(state)/carpoold.log" }

    /// The lock of the user's daemon.
    public var lock: String { "\(state)/carpoold.lock" }
}
