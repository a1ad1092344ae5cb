internal import CarpoolCaller
internal import CarpoolSystem

/// Reads the header fields of a request from the command line and the files that it names.
enum HeaderFile {
    /// The maximum size of a file; servers refuse more than some KiB.
    private static let maximumBytes = 262_144

    /// Returns every field, in order. Error messages contain the line number and not the line, which may be a secret.
    static func fields(of headers: [RequestArguments.Header]) throws(Failure) -> [RequestArguments.Field] {
        var fields: [RequestArguments.Field] = []
        for header in headers {
            switch header {
            case .field(let field): fields.append(field)
            case .file(let path): fields += try read(path)
            }
        }
        return fields
    }

    private static func read(_ path: String) throws(Failure) -> [RequestArguments.Field] {
        let name = InputFile.name(of: path)
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try InputFile.read(path, atMost: maximumBytes)
        } catch {
            throw Failure(error.exitCode(or: .usage), "cannot read the header fields: \(error)")
        }
        var fields: [RequestArguments.Field] = []
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (number, line) in lines.enumerated() {
            guard let text = String(validating: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
            else {
                throw Failure(
                    .usage, "line \(number + 1) of \(name) is not UTF-8",
                    hint: "write the value as UTF-8, or encode it in ASCII")
            }
            guard !text.isEmpty, !text.hasPrefix("#") else { continue }
            guard let field = RequestArguments.Field(line: text) else {
                throw Failure(
                    .usage, "line \(number + 1) of \(name) is not a header field",
                    hint: "each line is 'NAME: VALUE', empty, or a comment that begins with #")
            }
            fields.append(field)
        }
        return fields
    }
}
