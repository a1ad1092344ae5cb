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
        guard let (name, paths) = TrustArguments.places(in: environment) else { return self }
        return with(paths, of: name)
    }

    /// The first variable that is set, and its path, or its directories.
    private static func places(in environment: Environment) -> (name: String, paths: [String])? {
        for name in names {
            if let path = environment[name] { return (name, [path]) }
        }
        return environment[listName].map { (listName, directories(ofList: $0)) }
    }

    /// The directories that exist of a list with colons, as many as the daemon takes; the first one if none exists.
    private static func directories(ofList list: String) -> [String] {
        let directories = list.split(separator: ":").map(String.init)
        let found = directories.filter { isDirectory($0) }
        return found.isEmpty ? [directories.first ?? list] : Array(found.prefix(16))
    }

    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return SystemPath.withBytes(path) { stat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private func with(_ paths: [String], of name: String) -> TrustArguments {
        var arguments = self
        arguments.variable = name
        if TrustArguments.isDirectory(paths[0]) {
            arguments.directories = paths
        } else {
            arguments.authorities = paths[0]
        }
        return arguments
    }
}
