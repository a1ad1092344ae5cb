internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// The three standard descriptors.
enum Terminal {
    /// Standard output.
    static let output = BlockingOutput(borrowing: STDOUT_FILENO)
    /// Standard error.
    static let error = BlockingOutput(borrowing: STDERR_FILENO)

    /// Opens those that our caller has closed, lest the daemon's socket or a file take their numbers and get our messages.
    static func claimDescriptors() {
        for fd in STDIN_FILENO...STDERR_FILENO where fcntl(fd, F_GETFD) < 0 { _ = open("/dev/null", O_RDWR) }
    }

    /// Writes a line to standard error; nothing can be done if that fails. What others have put into it cannot steer the terminal.
    static func complain(_ line: String) { try? error.write(Array("\(PlainText.escaped(line))\n".utf8)) }

    /// Whether people read standard output.
    static var isForPeople: Bool { isatty(STDOUT_FILENO) == 1 }

    /// JSON for standard output: on a terminal with what is not printable escaped, which changes nothing of what it says.
    static func json(_ bytes: [UInt8]) -> [UInt8] { isForPeople ? PlainText.escapedJSON(bytes) : bytes }

    /// Prints a JSON value on a line.
    static func printLine(_ value: JSON) throws(Failure) {
        var writer = JSONWriter()
        writer.value(value)
        writer.append(verbatim: [UInt8(ascii: "\n")])
        try print(json(writer.bytes))
    }

    /// Prints to standard output.
    static func print(_ text: String) throws(Failure) { try print(Array(text.utf8)) }

    /// Prints to standard output.
    static func print(_ bytes: [UInt8]) throws(Failure) {
        try write("standard output") { () throws(SystemError) in try output.write(bytes) }
    }

    /// Runs something that writes. A reader that has gone is a failure without words, and not the end of us yet: the daemon is still to be
    /// told that its file may go.
    static func write(_ name: String, _ body: () throws(SystemError) -> Void) throws(Failure) {
        let former = signal(SIGPIPE, SIG_IGN)
        defer { signal(SIGPIPE, former) }
        do throws(SystemError) {
            try body()
        } catch {
            guard error.code != EPIPE else { throw Failure.brokenPipe }
            throw Failure(.transferFailed, "cannot write to \(name): \(error.reason)")
        }
    }
}
