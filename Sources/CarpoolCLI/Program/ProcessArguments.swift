/// The arguments after the program's name.
enum ProcessArguments {
    /// Refuses bytes that are no text: repaired ones would reach the server as something else than was typed.
    static func read() throws(Failure) -> [String] {
        var arguments: [String] = []
        arguments.reserveCapacity(Int(CommandLine.argc))
        for i in 1..<max(1, Int(CommandLine.argc)) {
            guard let pointer = CommandLine.unsafeArgv[i] else { break }
            guard let text = String(validatingCString: pointer) else {
                throw Failure(.usage, "argument \(i) is not UTF-8", hint: "binary data goes into a file: -d @FILE")
            }
            arguments.append(text)
        }
        return arguments
    }
}
