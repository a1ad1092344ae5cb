internal import CarpoolSystem

/// Reads the lines of `-H` and `--proxy-header`, and the files that they name.
enum CurlHeaderLines {
    /// The maximum of a file of lines; servers refuse more than some KiB.
    static let maximumFileBytes = 1_048_576

    /// The lines in the order of the command line, with those that `--json` adds after them. Files are read now.
    static func read(_ request: CurlRequestOptions, standardInput: Int32 = 0) throws(CurlError) -> [String] {
        var lines = try read(request.headers, standardInput: standardInput)
        if request.isJSON {
            for name in ["Content-Type", "Accept"] where lines.line(of: name) == nil {
                lines.append("\(name): application/json")
            }
        }
        return lines
    }

    /// The lines of headers in their order.
    static func read(
        _ headers: [CurlRequestOptions.Header], standardInput: Int32 = 0
    ) throws(CurlError) -> [String] {
        var lines: [String] = []
        for header in headers {
            switch header {
            case .line(let line): lines.append(line)
            case .file(let path): lines += try read(path, standardInput)
            }
        }
        return lines
    }

    /// The lines of a file but empty ones and comments. curl sends the blanks at the beginning of a line too, which
    /// makes it part of the field before it; here each line is a field.
    private static func read(_ path: String, _ standardInput: Int32) throws(CurlError) -> [String] {
        let bytes = try CurlFile.read(path, standardInput: standardInput, atMost: maximumFileBytes)
        var lines: [String] = []
        for line in bytes.split(whereSeparator: { $0 == 10 }) {
            let content = line.drop(while: \.isBlank)
            let end = content.last == 13 ? content.dropLast() : content
            guard let first = end.first, first != UInt8(ascii: "#") else { continue }
            guard let text = String(validating: end, as: UTF8.self) else {
                throw CurlError(
                    exitCode: CurlExitCode.readError, message: "A line of \(path) is not UTF-8: write it as UTF-8",
                    form: .plain)
            }
            lines.append(text)
        }
        return lines
    }
}
