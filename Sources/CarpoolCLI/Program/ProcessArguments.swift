internal import CarpoolCaller
internal import Glibc

/// The arguments after the program's name.
enum ProcessArguments {
    /// Whether the program was called by the name `curl`, through a link.
    static var isNamedCurl: Bool {
        guard let name = CommandLine.unsafeArgv[0], let slash = strrchr(name, Int32(UInt8(ascii: "/"))) else {
            return isCurl(CommandLine.unsafeArgv[0])
        }
        return strcmp(slash + 1, "curl") == 0
    }

    /// Whether they are a command line of curl: the first one says so, or the name of the program.
    static var areOfCurl: Bool { isNamedCurl || CommandLine.argc > 1 && isCurl(CommandLine.unsafeArgv[1]) }

    /// The words of the command line of curl, with what is not UTF-8 replaced.
    static var wordsOfCurl: [String] { Array(CommandLine.arguments.dropFirst(isNamedCurl ? 1 : 2)) }

    private static func isCurl(_ word: UnsafePointer<CChar>?) -> Bool { word.map { strcmp($0, "curl") == 0 } ?? false }

    /// Whether all arguments are UTF-8.
    static var areUTF8: Bool {
        (0..<Int(CommandLine.argc)).allSatisfy { number in
            CommandLine.unsafeArgv[number].map { String(validatingCString: $0) != nil } ?? true
        }
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
