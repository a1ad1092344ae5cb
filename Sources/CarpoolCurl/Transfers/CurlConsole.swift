internal import CarpoolExchange
internal import CarpoolSystem
internal import Glibc

/// Standard output of the command, and standard error or the file of `--stderr`.
final class CurlConsole {
    private let messages: CurlMessage
    private let file: BodyOutput?
    private let raw: Int32
    let output = CurlStandardOutput()
    let columns: Int

    init(_ global: CurlGlobalOptions, _ environment: Environment) {
        var size = winsize()
        let terminal = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 ? Int(size.ws_col) : nil
        columns = CurlMessage.columns(environment: environment["COLUMNS"], terminal: terminal)
        messages = CurlMessage(isSilent: global.isSilent, showsErrors: global.showsErrors, columns: columns)
        if let path = global.errorFile, path != "-", let opened = try? CurlOutputFile.open(path, .truncating) {
            file = opened
            raw = opened.descriptor
        } else {
            file = nil
            raw = global.errorFile == "-" ? STDOUT_FILENO : STDERR_FILENO
        }
    }

    /// Prints an error with its warnings.
    func print(_ error: CurlError) { write(messages.text(error)) }

    /// Prints what is wrong and ends nothing.
    func printReasons(_ reasons: [String]) { write(reasons.map(messages.reason).joined()) }

    func warn(_ message: String) { write(messages.warning(message)) }

    func warn(_ messages: [String]) { for message in messages { warn(message) } }

    /// Writes a text as it is; what cannot be written is lost, as in curl.
    func write(_ text: String) { write(Array(text.utf8)) }

    func write(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        if raw == STDOUT_FILENO {
            try? output.write(bytes, isFlushed: true)
        } else {
            try? BlockingOutput(borrowing: raw, isNamed: file != nil).write(bytes)
        }
    }
}
