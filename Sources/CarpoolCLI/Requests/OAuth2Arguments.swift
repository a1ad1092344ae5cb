internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolSystem

/// The options of OAuth 2.0: the daemon obtains a token with the client credentials (RFC 6749, section 4.4), which all
/// requests of the user with the same values share.
struct OAuth2Arguments: Equatable {
    /// A parameter of the token request, which may be repeated.
    struct Parameter: Equatable {
        let name: String
        var values: [String]
    }

    var tokenURL: String?
    var clientID: String?
    private var clientSecret: String?
    /// The file with the secret, until it is read; `-` for standard input.
    private(set) var secretFile: String?
    private var clientAuthentication: String?
    var scope: String?
    /// Further parameters of the token request.
    private var parameters: [Parameter] = []

    /// The maximum size of a secret.
    private static let maximumBytes = 4_096

    /// Whether the secret is in a file.
    var needsFile: Bool { secretFile != nil }

    mutating func setSecret(_ value: String) throws(UsageError) {
        guard value != "@" else { throw UsageError("--oauth2-client-secret needs the name of a file after @") }
        if value.hasPrefix("@") {
            secretFile = String(value.dropFirst())
        } else {
            VisibleArguments.hide(value)
            clientSecret = value
        }
    }

    mutating func setAuthentication(_ value: String) throws(UsageError) {
        guard value == "basic" || value == "body" else {
            throw UsageError("--oauth2-client-auth takes basic or body, not '\(value)'")
        }
        clientAuthentication = value
    }

    mutating func addParameter(_ text: String) throws(UsageError) {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
            throw UsageError("--oauth2-param takes NAME=VALUE, not '\(text)'")
        }
        // Such as client_assertion, which is a secret.
        VisibleArguments.hide(text)
        let (name, value) = (String(text[..<equals]), String(text[text.index(after: equals)...]))
        guard let known = parameters.firstIndex(where: { $0.name == name }) else {
            return parameters.append(Parameter(name: name, values: [value]))
        }
        parameters[known].values.append(value)
    }

    /// Whether there is any of the options.
    var isGiven: Bool {
        tokenURL != nil || clientID != nil || clientSecret != nil || needsFile || clientAuthentication != nil
            || scope != nil || !parameters.isEmpty
    }

    /// Refuses options without those that they need, and with another user.
    func check(hasUser: Bool) throws(UsageError) {
        guard isGiven else { return }
        guard tokenURL != nil else { throw UsageError("the --oauth2 options need --oauth2-token-url") }
        guard clientID != nil else { throw UsageError("--oauth2-token-url needs --oauth2-client-id") }
        guard !hasUser else { throw UsageError("--user and --oauth2-token-url exclude each other") }
    }

    /// Reads the file of the secret: its only line.
    mutating func readFile() throws(Failure) {
        guard let path = secretFile else { return }
        secretFile = nil
        var bytes: [UInt8]
        do throws(SystemError) {
            bytes = try InputFile.read(path, atMost: OAuth2Arguments.maximumBytes)
        } catch {
            throw Failure(
                error.exitCode(or: .usage), "--oauth2-client-secret: cannot read the secret: \(error)")
        }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        guard !bytes.isEmpty, bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            let text = String(validating: bytes, as: UTF8.self)
        else {
            throw Failure(
                .usage, "--oauth2-client-secret: \(InputFile.name(of: path)) does not have the secret as its only line",
                hint: "remove other lines and control characters")
        }
        clientSecret = text
    }

    /// Writes the element of `interceptor`.
    /// - Parameter isSent: whether the request is sent; otherwise no token is obtained for it.
    func write(to writer: inout JSONWriter, isSent: Bool) {
        writer.beginObject()
        writer.key(isSent ? "oauth2" : "bearer")
        writer.beginObject()
        if isSent { writeMembers(to: &writer) } else { writer.member("token", static: "hidden") }
        writer.endObject()
        writer.endObject()
    }

    private func writeMembers(to writer: inout JSONWriter) {
        writer.member("grant", static: "client_credentials")
        writer.member("token_url", tokenURL)
        writer.member("client_id", clientID)
        writer.member("client_secret", clientSecret)
        writer.member("client_auth", clientAuthentication)
        writer.member("scope", scope)
        guard !parameters.isEmpty else { return }
        writer.key("parameters")
        writer.beginObject()
        for parameter in parameters {
            writer.key(parameter.name)
            writer.beginArray()
            for value in parameter.values { writer.string(value) }
            writer.endArray()
        }
        writer.endObject()
    }
}

extension Option where Arguments == RequestArguments {
    /// The options of OAuth 2.0.
    static var oauth2: [Option] {
        [
            Option(
                "--oauth2-token-url", takesNonEmpty: "URL",
                "send an access token, which the daemon obtains there once for all programs"
            ) { $0.oauth2.tokenURL = RequestArguments.withScheme($1) },
            Option("--oauth2-client-id", takesNonEmpty: "ID", "the client that the token is for") {
                $0.oauth2.clientID = $1
            },
            Option(
                "--oauth2-client-secret", takesNonEmpty: "SECRET",
                "the client's secret: SECRET, @FILE, or @- for standard input"
            ) { (arguments, value) throws(UsageError) in try arguments.oauth2.setSecret(value) },
            Option("--oauth2-client-auth", takes: "WHERE", "send id and secret as basic (the default) or in the body") {
                (arguments, value) throws(UsageError) in try arguments.oauth2.setAuthentication(value)
            },
            Option("--oauth2-scope", takesNonEmpty: "SCOPE", "the scope of the token, several with blanks") {
                $0.oauth2.scope = $1
            },
            Option(
                "--oauth2-param", takes: "NAME=VALUE",
                "a further parameter of the token request, such as audience; may be repeated"
            ) { (arguments, value) throws(UsageError) in try arguments.oauth2.addParameter(value) },
        ]
    }
}
