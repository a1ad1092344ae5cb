internal import CarpoolJSON

/// Result of a configuration reload.
struct ConfigurationReload {
    /// Members that have changed and are in force.
    let changed: [String]
    /// Members that have changed and need a restart.
    let waiting: [String]

    func writeMembers(to writer: inout JSONWriter) {
        writer.member("changed", changed)
        writer.member("needs_restart", waiting)
    }
}
