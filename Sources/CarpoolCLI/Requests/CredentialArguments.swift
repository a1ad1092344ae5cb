internal import CarpoolCaller
internal import CarpoolCurl
internal import CarpoolJSON
internal import CarpoolSystem

/// The options of authentication with a user and a password.
struct CredentialArguments: Equatable {
    var user: String?
    /// `nil` if the user has to be asked for it.
    var password: String?
    /// The schemes that may be used; `nil` for Basic without a challenge, as in curl.
    var schemes: [String]?
    /// `nil` to read no `.netrc` file.
    private(set) var netrc: NetrcArguments?
    /// What the `.netrc` file has for the request, once it is read.
    private(set) var logins: NetrcLogins?

    /// Whether the request has a credential of its own.
    var isGiven: Bool { user != nil || logins?.isEmpty == false }

    mutating func setUser(_ value: String) throws(UsageError) {
        // The user may be empty, as in curl: some servers take a token as the password of no user.
        guard !value.isEmpty else { throw UsageError("the value of --user is empty: it takes USER:PASSWORD") }
        let colon = value.firstIndex(of: ":") ?? value.endIndex
        VisibleArguments.hide(value)
        user = String(value[..<colon])
        password = colon == value.endIndex ? nil : String(value[value.index(after: colon)...])
    }

    /// Asks for the password if there is only a user.
    mutating func readPassword() throws(Failure) {
        guard let user, password == nil else { return }
        password = try PasswordPrompt.read("Enter host password for user '\(user)':", for: "--user")
    }

    mutating func changeNetrc(_ change: (inout NetrcArguments) -> Void) {
        var new = netrc ?? NetrcArguments()
        change(&new)
        netrc = new
    }

    /// Reads the `.netrc` file. As in curl, it is not read if there is a user on the command line.
    mutating func readNetrc(for url: String, followsRedirects: Bool) throws(Failure) {
        guard user == nil, let netrc else { return }
        logins = try netrc.logins(for: url, followsRedirects: followsRedirects, isPreemptive: schemes == nil)
    }

    /// Writes the parameters `credential` and `credentials`.
    func write(to writer: inout JSONWriter) {
        logins?.write(schemes: schemes, to: &writer)
        guard let user else { return }
        writer.key("credential")
        writer.beginObject()
        Netrc.Login(user: user, password: password ?? "").write(schemes: schemes, to: &writer)
        writer.endObject()
    }
}

extension Option where Arguments == RequestArguments {
    /// The options of authentication.
    static var credential: [Option] {
        [
            Option(
                "--user", short: "u", takes: "USER[:PASSWORD]",
                "the user and the password for the URL's host; asks for a missing one"
            ) {
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

    /// The options of `.netrc` files.
    static var netrc: [Option] {
        [
            Option("--netrc", short: "n", "take user and password from ~/.netrc") { arguments in
                arguments.credential.changeNetrc { _ in }
            },
            Option("--netrc-optional", "like --netrc, after user and password of the URL; the file may be missing") {
                $0.credential.changeNetrc { $0.isOptional = true }
            },
            Option("--netrc-file", takesNonEmpty: "FILE", "like --netrc, with this file") { (arguments, file) in
                arguments.credential.changeNetrc { $0.file = file }
            },
        ]
    }
}
