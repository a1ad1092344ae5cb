internal import CarpoolCaller
internal import CarpoolSystem
internal import Glibc

/// The arguments after the program's name.
enum ProcessArguments {
    /// Whether the program was called by the name `curl`, through a link.
    static var isNamedCurl: Bool {
        guard let name = ProgramArguments.value(0), let slash = strrchr(name, Int32(UInt8(ascii: "/"))) else {
            return isCurl(ProgramArguments.value(0))
        }
        return strcmp(slash + 1, "curl") == 0
    }

    /// Whether they are a command line of curl: the first one says so, or the name of the program.
    static var areOfCurl: Bool { isNamedCurl || isCurl(ProgramArguments.value(1)) }

    /// The words of the command line of curl, with what is not UTF-8 replaced.
    static var wordsOfCurl: [String] { ProgramArguments.words(after: isNamedCurl ? 0 : 1) }

    private static func isCurl(_ word: UnsafePointer<CChar>?) -> Bool { word.map { strcmp($0, "curl") == 0 } ?? false }

    /// Whether all arguments are UTF-8.
    static var areUTF8: Bool {
        (0..<ProgramArguments.count).allSatisfy { number in
            ProgramArguments.value(number).map { String(validatingCString: $0) != nil } ?? true
        }
    }

    /// Returns the arguments, as ``SystemPath`` writes paths: one that is not UTF-8 may be the path of a file. Values
    /// that are none get their own text back, or are refused, by ``PlainArgument``. Those of curl are plain.
    static func read() -> [String] {
        var arguments: [String] = []
        arguments.reserveCapacity(ProgramArguments.count)
        for i in 1..<max(1, ProgramArguments.count) {
            guard let pointer = ProgramArguments.value(i) else { break }
            arguments.append(areOfCurl ? String(cString: pointer) : SystemPath.text(pointer))
        }
        return arguments
    }
}
