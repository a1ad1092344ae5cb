package import CarpoolSystem
internal import Glibc

extension TrustArguments {
    /// The variables that name authorities, in the order of requests, curl and OpenSSL.
    private static let names = ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"]
    /// The variable with a list of directories.
    private static let listName = "SSL_CERT_DIR"

    /// These arguments, with the authorities that the environment names if no option does.
    package func orAuthorities(of environment: Environment) -> TrustArguments {
        guard !isInsecure, !asksForKeys, authorities == nil, directories.isEmpty else { return self }
        guard let (name, path) = TrustArguments.place(in: environment) else { return self }
        return with(path, of: name)
    }

    /// The first variable that is set, and its path.
    private static func place(in environment: Environment) -> (name: String, path: String)? {
        for name in names {
            if let path = environment[name] { return (name, path) }
        }
        return environment[listName].map { (listName, directory(ofList: $0)) }
    }

    /// The first directory that exists of a list with colons; the daemon takes one.
    private static func directory(ofList list: String) -> String {
        let directories = list.split(separator: ":").map(String.init)
        return directories.first { isDirectory($0) } ?? directories.first ?? list
    }

    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return SystemPath.withBytes(path) { stat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private func with(_ path: String, of name: String) -> TrustArguments {
        var arguments = self
        arguments.variable = name
        if TrustArguments.isDirectory(path) { arguments.directories = [path] } else { arguments.authorities = path }
        return arguments
    }
}
