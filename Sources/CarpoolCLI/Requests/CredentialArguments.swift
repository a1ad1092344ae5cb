internal import CarpoolJSON

/// The options of authentication with a user and a password.
struct CredentialArguments: Equatable {
    var user: String?
    var password = ""
    /// The schemes that may be used; `nil` for Basic without a challenge, as in curl.
    var schemes: [String]?

    mutating func setUser(_ value: String) throws(UsageError) {
        guard let colon = value.firstIndex(of: ":"), colon != value.startIndex else {
            throw UsageError("--user takes USER:PASSWORD")
        }
        user = String(value[..<colon])
        password = String(value[value.index(after: colon)...])
    }

    /// Writes the parameter `credential`.
    func write(to writer: inout JSONWriter) {
        guard let user else { return }
        writer.key("credential")
        writer.beginObject()
        writer.member("username", user)
        writer.member("password", password)
        writer.member("schemes", schemes ?? ["basic"])
        if schemes == nil { writer.member("preemptive", true) }
        writer.endObject()
    }
}

extension Option where Arguments == RequestArguments {
    /// The options of authentication.
    static var credential: [Option] {
        [
            Option("--user", short: "u", takes: "USER:PASSWORD", "the user and the password for the URL's host") {
                (arguments, value) throws(UsageError) in try arguments.credential.setUser(value)
            },
            Option("--basic", "send them with the first request (the default)") { $0.credential.schemes = nil },
            Option("--digest", "use Digest authentication, when the server asks") {
                $0.credential.schemes = ["digest"]
            },
            Option("--anyauth", "use the strongest scheme that the server offers") {
                $0.credential.schemes = ["basic", "digest"]
            },
        ]
    }
}
