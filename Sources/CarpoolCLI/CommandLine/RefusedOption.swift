/// Options of curl that the command does not have, with the reason.
enum RefusedOption {
    /// Why there is no option of this name, and what to use; `nil` for any other name.
    static func reason(of name: String) -> String? {
        switch name {
        case "--ntlm", "--ntlm-wb", "--proxy-ntlm":
            "\(name) is not supported: NTLM authenticates a connection, and programs share the daemon's connections; use curl \(name)"
        case "--negotiate", "--proxy-negotiate":
            "\(name) is not supported: a Kerberos ticket belongs to a process and its user, and the daemon serves many; use curl \(name)"
        case "--write-out", "-w":
            "\(name) is not supported here: -v prints the status, the times and the sizes; use curl \(name)"
        default: nil
        }
    }
}
