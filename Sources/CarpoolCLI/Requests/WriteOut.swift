internal import CarpoolCaller
internal import CarpoolCurl
internal import CarpoolSystem
internal import Glibc

/// The text of `-w`, in curl's language, which is printed when a request has ended.
final class WriteOut: Equatable {
    private var text: [UInt8]
    /// The file that it is read from, if it is.
    let file: String?
    /// The pipe that has the text, until it is read.
    private var pipe: String?

    /// The text, or with `@` the content of a file, which is read now: a missing one is an error before anything is
    /// sent. A pipe is read later (``readFile()``), when the time limit is known.
    init(_ text: String) throws(UsageError) {
        guard text.hasPrefix("@") else {
            file = nil
            self.text = Array(text.utf8)
            return
        }
        let path = String(text.dropFirst())
        file = path
        self.text = []
        if CallerFile.isNeeded(for: path) {
            pipe = path
        } else {
            self.text = try WriteOut.read(path)
        }
    }

    private static func read(_ path: String) throws(UsageError) -> [UInt8] {
        do throws(CurlError) {
            return try CurlFile.readText(path, standardInput: STDIN_FILENO)
        } catch {
            throw UsageError("-w cannot read the file '\(path)': \(CurlFile.reason(path))")
        }
    }

    /// Whether ``readFile()`` has something to read.
    var needsFile: Bool { pipe != nil }

    /// Reads the pipe, once.
    func readFile() throws(Failure) {
        guard let path = pipe else { return }
        pipe = nil
        do throws(UsageError) { text = try WriteOut.read(path) } catch {
            throw Failure(NamedPath.isTimeOver ? .timedOut : .usage, error.message)
        }
    }

    /// The value of `-w` that says the same.
    var option: String { String(decoding: text, as: UTF8.self) }

    static func == (one: WriteOut, other: WriteOut) -> Bool { one.text == other.text && one.pipe == other.pipe }

    /// Prints it for a request that has ended.
    func print(_ report: CurlReport) {
        let writeOut = CurlWriteOut(text, program: "carpool", escapesValues: WriteOut.isTerminal)
        for piece in writeOut.pieces(report) { WriteOut.write(piece) }
    }

    private static func isTerminal(_ destination: CurlWriteOut.Destination) -> Bool {
        switch destination {
        case .standardOutput: isatty(STDOUT_FILENO) == 1
        case .standardError: isatty(STDERR_FILENO) == 1
        case .file: false
        }
    }

    private static func write(_ piece: CurlWriteOut.Piece) {
        switch piece.destination {
        case .standardOutput: try? BlockingOutput(borrowing: STDOUT_FILENO).write(piece.bytes)
        case .standardError: try? BlockingOutput(borrowing: STDERR_FILENO).write(piece.bytes)
        case .file(let path, let appends):
            let flags = O_WRONLY | O_CREAT | (appends ? O_APPEND : O_TRUNC)
            guard let file = try? NamedPath.open(path, flags, mode: 0o666) else { return }
            try? BlockingOutput(borrowing: file.raw, isNamed: true).write(piece.bytes)
        }
    }
}
