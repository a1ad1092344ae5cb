internal import CarpoolJSON
internal import CarpoolSession

/// A session that the configuration file declares, with the contents of the files that it names.
///
/// As texts, because a tree of JSON belongs to one thread: the file is read by a thread of the worker, and the session
/// is made on the loop.
struct DeclaredSession: Sendable {
    /// Its name, unique among the sessions of the daemon's user.
    let name: String
    /// The configuration as it is in the file.
    let text: [UInt8]
    /// The configuration with the secrets in place of the files that hold them.
    let resolved: [UInt8]
    /// The configuration as clients see it, with the secrets of files hidden.
    let shown: [UInt8]
    /// Names of the request fields that have secrets of files, in lower case.
    let hiddenFields: [String]
    /// Whether its cookies are stored on disk.
    let hasPersistentCookies: Bool
    /// The cookies of its file, once they were read.
    var cookies: Result<[Cookie], CookieFolder.Refusal> = .success([])
    /// The other files, by the place where the configuration names them.
    let files: CallFiles.Found

    /// The place of a session's configuration in errors.
    static func path(of name: String) -> String { "configuration.sessions.\(name)" }
}

extension DeclaredSession: Equatable {
    /// Whether name, configuration and secrets are the same. Other files are compared by what is made of them.
    static func == (a: DeclaredSession, b: DeclaredSession) -> Bool {
        a.name == b.name && a.text == b.text && a.resolved == b.resolved
    }
}
