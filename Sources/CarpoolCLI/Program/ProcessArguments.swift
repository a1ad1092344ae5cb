internal import Glibc

/// The arguments after the program's name.
enum ProcessArguments {
    /// Whether the program was called by the name `curl`, through a link.
    static var isNamedCurl: Bool {
        guard let name = CommandLine.unsafeArgv[0], let slash = strrchr(name, Int32(UInt8(ascii: "/"))) else {
            return CommandLine.unsafeArgv[0].map { strcmp($0, "curl") == 0 } ?? false
        }
        return strcmp(slash + 1, "curl") == 0
    }

    /// Returns the arguments; throws if one is not UTF-8, because a repaired one would differ from what the user typed.
    static func read() throws(Failure) -> [String] {
        var arguments: [String] = []
        arguments.reserveCapacity(Int(CommandLine.argc))
        for i in 1..<max(1, Int(CommandLine.argc)) {
            guard let pointer = CommandLine.unsafeArgv[i] else { break }
            guard let text = String(validatingCString: pointer) else {
                throw Failure(.usage, "argument \(i) is not UTF-8", hint: "send binary data from a file: -d @FILE")
            }
            arguments.append(text)
        }
        return arguments
    }
}
