internal import CarpoolRPC

/// Checks that a caller's path is absolute and has no NUL, before it is used: for C a NUL ends the path, and a relative
/// path starts at the daemon's directory.
enum AbsolutePath {
    /// Whether a path passes ``check(_:at:)``.
    static func isOne(_ path: String) -> Bool { path.hasPrefix("/") && !path.utf8.contains(0) }

    /// Refuses any other text, naming the parameter.
    static func check(_ path: String, at place: String) throws(RPCError) {
        let isWhole = !path.utf8.contains(0)
        guard path.hasPrefix("/"), isWhole else {
            let fault = isWhole ? path.isEmpty ? "is empty" : "is relative: \(path.prefix(200))" : "has a NUL"
            throw .invalidParams(path: place, message: "the path \(fault)", expected: "an absolute path")
        }
    }
}
