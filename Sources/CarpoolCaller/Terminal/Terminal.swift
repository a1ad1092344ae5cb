package import CarpoolJSON
package import CarpoolSystem
internal import Glibc
internal import Synchronization

/// The three standard descriptors.
package enum Terminal {
    /// Standard output.
    package static let output = BlockingOutput(borrowing: STDOUT_FILENO)
    /// Standard error.
    static let error = BlockingOutput(borrowing: STDERR_FILENO)

    /// Opens standard descriptors that the caller has closed, so that no socket or file gets their numbers. Those for
    /// output cannot be written to, so that what is printed there is an error as before.
    package static func claimDescriptors() {
        for fd in STDIN_FILENO...STDERR_FILENO where fcntl(fd, F_GETFD) < 0 {
            _ = open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR)
        }
    }

    /// Writes a line to standard error, with unprintable characters escaped, in place of the lines of progress; ignores
    /// errors.
    package static func printError(_ line: String) { replaceProgress("\(PlainText.escaped(line))\n", height: 0) }

    /// How many lines of progress stand at the end of standard error, a terminal.
    private static let progressHeight = Atomic<Int>(0)

    /// Draws lines of progress in place of those that stand there; none removes them.
    static func drawProgress(_ lines: [String]) {
        replaceProgress(lines.joined(separator: "\n"), height: lines.count)
    }

    /// Moves to the beginning of the first line of progress, clears from there on (ECMA-48: CUU, ED), and writes.
    private static func replaceProgress(_ text: String, height: Int) {
        let former = progressHeight.exchange(height, ordering: .relaxed)
        let up = former > 1 ? "\u{1B}[\(former - 1)A" : ""
        let beginning = former + height > 0 ? "\r\(up)\u{1B}[J" : ""
        try? error.write(Array("\(beginning)\(text)".utf8))
    }

    /// Whether standard output is a terminal.
    package static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// JSON for standard output: on a terminal, unprintable characters are escaped, which does not change the value.
    package static func json(_ bytes: [UInt8]) -> [UInt8] { isTerminal ? PlainText.escapedJSON(bytes) : bytes }

    /// Prints a JSON value on a line.
    package static func printLine(_ value: JSON) throws(Failure) {
        var writer = JSONWriter()
        writer.value(value)
        writer.append(verbatim: [UInt8(ascii: "\n")])
        try print(json(writer.bytes))
    }

    /// Prints to standard output.
    package static func print(_ text: String) throws(Failure) { try print(Array(text.utf8)) }

    /// Prints to standard output.
    package static func print(_ bytes: [UInt8]) throws(Failure) {
        try write("standard output") { () throws(SystemError) in try output.write(bytes) }
    }

    /// Runs a closure that writes. EPIPE is a failure without a message. SIGPIPE is ignored meanwhile: the command
    /// still has to release the daemon's file.
    package static func write(_ name: String, _ body: () throws(SystemError) -> Void) throws(Failure) {
        let former = signal(SIGPIPE, SIG_IGN)
        defer { signal(SIGPIPE, former) }
        do throws(SystemError) {
            try body()
        } catch {
            guard error.code != EPIPE else { throw Failure.brokenPipe }
            throw Failure(
                error.exitCode(or: .transferFailed), "cannot write to \(name): \(error.reason)", hint: error.advice)
        }
    }
}
