internal import CarpoolHTTP

/// The options of curl for the settings of a connection.
enum CurlTrust {
    /// The options in the order in which curl's manual groups them: trust.
    static func options(_ partition: ConnectionPartition) -> [String] {
        var lines: [String] = []
        if !partition.trust.isVerified { lines.append("--insecure") }
        if case .only(let authorities) = partition.trust.authorities {
            lines.append("--cacert \(ShellText.quoted(authorities.path))")
        }
        return lines
    }
}
