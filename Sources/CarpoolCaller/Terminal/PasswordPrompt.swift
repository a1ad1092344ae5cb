internal import CarpoolSystem
internal import Glibc

/// Asks the user for a password on the terminal of the process, without echo.
package enum PasswordPrompt {
    /// The most bytes of a password, as the daemon takes it.
    private static let maximumBytes = 4_096

    /// Returns the line that the user has typed.
    /// - Parameters:
    ///   - question: printed on the terminal.
    ///   - option: the option that has no password, for the error if there is no terminal.
    package static func read(_ question: String, for option: String) throws(Failure) -> String {
        if let text = try ask(question, for: option) { return text }
        throw Failure(
            .usage, "\(option) has no password, and there is no terminal to ask for it",
            hint: "\(option) USER:PASSWORD, or --netrc")
    }

    /// Returns the line that the user has typed; `nil` without a terminal.
    package static func ask(_ question: String, for option: String) throws(Failure) -> String? {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        // A signal must not end the command while the terminal has no echo.
        let interruption = Interruption()
        var former = termios()
        let isTerminal = tcgetattr(terminal, &former) == 0
        if isTerminal {
            var silent = former
            silent.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(terminal, TCSAFLUSH, &silent)
        }
        write(question, to: terminal)
        let line = readLine(terminal, interruption)
        if isTerminal { tcsetattr(terminal, TCSAFLUSH, &former) }
        write("\n", to: terminal)
        if let signal = interruption.signal { Interruption.end(by: signal) }
        interruption.unblock()
        guard let line, line.count <= maximumBytes, let text = String(validating: line, as: UTF8.self) else {
            throw Failure(.usage, "\(option): the password is not one line of UTF-8 with at most \(maximumBytes) bytes")
        }
        return text
    }

    /// A line without its end; `nil` if the terminal ends before it, or a signal comes.
    private static func readLine(_ terminal: Int32, _ interruption: Interruption) -> [UInt8]? {
        guard let signals = try? interruption.descriptor() else { return nil }
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while line.count <= maximumBytes {
            var waits = [
                pollfd(fd: terminal, events: Int16(POLLIN), revents: 0),
                pollfd(fd: signals.raw, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&waits, 2, -1) > 0 || errno == EINTR, waits[1].revents == 0 else { return nil }
            guard waits[0].revents != 0 else { continue }
            guard Glibc.read(terminal, &byte, 1) == 1 else { return nil }
            if byte == 0x0A { return line }
            line.append(byte)
        }
        return line
    }

    private static func write(_ text: String, to terminal: Int32) {
        let bytes = Array((text == "\n" ? text : PlainText.escaped(text)).utf8)
        _ = Glibc.write(terminal, bytes, bytes.count)
    }
}
