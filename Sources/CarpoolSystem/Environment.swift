internal import CLinux
internal import Glibc

/// A look-up of environment variables: the process's own, or a dictionary in tests.
public struct Environment {
    private let lookUp: (String) -> String?

    /// An environment with only these variables.
    public init(_ variables: [String: String]) { lookUp = { variables[$0] } }

    private init(lookUp: @escaping (String) -> String?) { self.lookUp = lookUp }

    /// The environment of this process, read at each look-up.
    public static var process: Environment {
        Environment { name in getenv(name).map { SystemPath.text($0) } }
    }

    /// The value of a variable; `nil` if it is unset or empty, which is the same according to the XDG specification.
    public subscript(name: String) -> String? {
        guard let value = lookUp(name), !value.isEmpty else { return nil }
        return value
    }

    /// A path of the program's own socket and folders, which are UTF-8: other bytes are replaced.
    func ownPath(_ name: String) -> String? {
        self[name].map { SystemPath.hasBytes($0) ? String(decoding: SystemPath.bytes(of: $0), as: UTF8.self) : $0 }
    }

    /// The same, if it is absolute; a relative one is ignored, as the XDG Base Directory Specification asks.
    func path(_ name: String) -> String? {
        guard let value = ownPath(name), value.utf8.first == UInt8(ascii: "/") else { return nil }
        return value
    }
}

extension Environment {
    /// The variables of this process with these names, each as `NAME=value`: the environment of a program that is
    /// started.
    public static func processVariables(where isWanted: (Substring) -> Bool) -> [String] {
        var variables: [String] = []
        guard var entry = CLinux_environment() else { return [] }
        while let text = entry.pointee {
            let variable = String(cString: text)
            if isWanted(variable.prefix { $0 != "=" }) { variables.append(variable) }
            entry += 1
        }
        return variables
    }
}
