internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// The text of `-w`, in curl's language, which is printed when a request has ended.
final class WriteOut: Equatable {
    private let text: String

    /// The text, or with `@` the name of a file.
    init(_ text: String) { self.text = text }

    static func == (one: WriteOut, other: WriteOut) -> Bool { one.text == other.text }

    /// Prints it for a request.
    func print(_ record: JSON) {
        var report = CurlReport()
        report.take(response: record["response"])
        report.take(hopsOf: record)
        report.totalMicroseconds = Int64(record["metrics"]?["duration_us"]?.int ?? 0)
        report.url = record["attempts"]?[index: 0]?["request"]?["url"]?.string ?? report.effectiveURL
        report.method = record["attempts"]?[index: 0]?["request"]?["method"]?.string ?? "GET"
        report.redirects = record["metrics"]?["redirects"]?.int ?? 0
        report.retries = max(0, (record["metrics"]?["attempts"]?.int ?? 1) - 1)
        if let error = record["outcome"]?["error"] {
            let failure = CurlFailureMessage.error(CurlFailure(error))
            report.exitCode = Int(failure.exitCode)
            report.errorMessage = failure.message
        }
        guard let bytes = content() else { return }
        for piece in CurlWriteOut(bytes).pieces(report) { WriteOut.write(piece) }
    }

    private func content() -> [UInt8]? {
        guard text.hasPrefix("@") else { return Array(text.utf8) }
        return try? CurlFile.readText(String(text.dropFirst()), standardInput: STDIN_FILENO)
    }

    private static func write(_ piece: CurlWriteOut.Piece) {
        switch piece.destination {
        case .standardOutput: try? BlockingOutput(borrowing: STDOUT_FILENO).write(piece.bytes)
        case .standardError: try? BlockingOutput(borrowing: STDERR_FILENO).write(piece.bytes)
        case .file(let path, let appends):
            let flags = O_WRONLY | O_CREAT | (appends ? O_APPEND : O_TRUNC)
            guard let file = try? FileDescriptor.open(path, flags, mode: 0o666) else { return }
            try? BlockingOutput(borrowing: file.raw).write(piece.bytes)
        }
    }
}
