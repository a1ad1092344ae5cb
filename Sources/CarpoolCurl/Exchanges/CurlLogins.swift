internal import CarpoolSystem

/// Where the user and the password for a host come from: `-u`, the URL, and a `.netrc` file.
struct CurlLogins {
    private let option: String?
    private let netrc: Netrc?
    /// Whether the file takes precedence over a user in the URL.
    private let isRequired: Bool
    /// The maximum size of a `.netrc` file.
    private static let maximumBytes = 1_048_576

    /// Why the file cannot be used; the transfers fail then.
    private let failure: CurlError?

    /// Reads the `.netrc` file, if the options ask for one.
    init(_ security: CurlSecurityOptions, _ environment: Environment) {
        option = security.user
        isRequired = security.netrc == .required
        do throws(CurlError) {
            netrc =
                security.netrc == .none
                ? nil
                : try CurlLogins.read(
                    security.netrcFile ?? Netrc.defaultPath(environment), isRequired: isRequired)
            failure = nil
        } catch {
            netrc = nil
            failure = error
        }
    }

    private static func read(_ path: String?, isRequired: Bool) throws(CurlError) -> Netrc? {
        guard let path, let bytes = try? NamedPath.read(path, atMost: maximumBytes) else {
            guard isRequired else { return nil }
            throw CurlError(exitCode: CurlExitCode.readError, message: ".netrc error: no such file")
        }
        guard let netrc = String(validating: bytes, as: UTF8.self).flatMap({ Netrc($0) }) else {
            throw CurlError(exitCode: CurlExitCode.readError, message: ".netrc error: syntax error")
        }
        return netrc
    }

    /// The login for the first request to a URL.
    func login(at url: CurlURL) throws(CurlError) -> CurlLogin {
        if let failure { throw failure }
        var login = CurlLogin(option: option)
        try login.read(url)
        return complete(login, at: url)
    }

    /// The login for a request after a redirect. A user whom the URL before had is none of another host.
    func complete(_ login: CurlLogin, at url: CurlURL, after previous: CurlURL? = nil) -> CurlLogin {
        guard let netrc, option == nil else { return login }
        let isOfHost = url.user != nil || previous.map { url.host.utf8.equalsIgnoringCase($0.host.utf8) } ?? true
        let user = isOfHost ? login.user : nil
        guard isRequired || user == nil || login.password == nil,
            let found = netrc.login(at: url.hostName, user: user.flatMap { $0.isEmpty ? nil : $0 })
        else { return login }
        return CurlLogin(user: found.user, password: found.password, fileHost: url.hostName)
    }
}
