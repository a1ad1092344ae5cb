/// Options of curl that the command does not have, with what to use.
enum RefusedOption {
    /// Why there is no option of this name, and what to use; `nil` for any other name.
    static func reason(of name: String) -> String? {
        switch name {
        case "--ntlm", "--ntlm-wb", "--proxy-ntlm":
            "\(name) is not supported: NTLM authenticates a connection, and programs share the daemon's connections; use curl \(name)"
        case "--negotiate", "--proxy-negotiate":
            "\(name) is not supported: a Kerberos ticket belongs to a process and its user, and the daemon serves many; use curl \(name)"
        case "--get", "-G":
            "\(name) is not needed here: --query NAME=VALUE adds to the URL; or use carpool curl \(name)"
        case "--data-binary": "-d @FILE sends a file byte for byte here, as curl's --data-binary"
        case "--data-raw", "--data-ascii", "--data-urlencode", "--url-query":
            "\(name) is an option of carpool curl; here -d sends the body, and --query adds to the URL"
        case "--fail-with-body": "\(name) is an option of carpool curl; here --fail prints no body of an error"
        case "--dump-header", "-D": "\(name) is an option of carpool curl; here -i prints the header, and -v all fields"
        case "--config", "-K": "\(name) is an option of carpool curl; here -H @FILE reads header fields from a file"
        case "--remote-header-name", "-J", "--remote-name-all", "--output-dir", "--create-dirs":
            "\(name) is an option of carpool curl; here -o FILE and -O name the file"
        case "--parallel", "-Z": "\(name) is an option of carpool curl"
        default: nil
        }
    }
}
