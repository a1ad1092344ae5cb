internal import CarpoolSystem
internal import Glibc

/// A file of options: `.curlrc`, and those of `-K`.
enum CurlConfigurationFile {
    /// Files may name others.
    private static let maximumDepth = 10

    /// Reads the first configuration file of the user that exists, up to its first error: like curl, the command line
    /// is carried out with what was read before it.
    static func readDefault(into line: inout CurlCommandLine) {
        let environment = line.environment
        var candidates: [String] = []
        if let home = environment["CURL_HOME"] { candidates += ["\(home)/.curlrc", "\(home)/_curlrc"] }
        if let folder = environment["XDG_CONFIG_HOME"] { candidates.append("\(folder)/curlrc") }
        if let home = environment["HOME"] {
            candidates += ["\(home)/.curlrc", "\(home)/_curlrc", "\(home)/.config/curlrc"]
        }
        for path in candidates where SystemPath.withBytes(path, { access($0, R_OK) }) == 0 {
            if let part = PathOwnership.foreignPart(of: path) {
                guard !line.invocation.global.isSilent else { return }
                line.remarks = ["\(path) is not used: another user can change \(part)"]
                return
            }
            do throws(CurlError) {
                try read(path, into: &line)
            } catch {
                guard !line.invocation.global.isSilent else { return }
                // The last reason of a wrong row says that the file is not used, which is so for files of -K.
                line.remarks = error.form == .option ? error.reasons.dropLast() : error.reasons + [error.message]
            }
            return
        }
    }

    /// Reads a file.
    static func read(_ path: String, into line: inout CurlCommandLine) throws(CurlError) {
        var failure = CurlValueError.unreadable
        failure.reasons = ["cannot read config from '\(path)'"]
        line.depth += 1
        defer { line.depth -= 1 }
        guard line.depth <= maximumDepth, let content = try? CurlOptionFile.bytes(path, &line.consumed) else {
            throw failure
        }
        for (index, row) in content.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
            do throws(CurlError) {
                try read(row: Array(row), number: index + 1, of: path, into: &line)
            } catch {
                guard error.form == .option else { throw error }
                failure.warnings = error.warnings
                failure.reasons =
                    error.reasons
                    + [
                        "\(path == "-" ? "<stdin>" : path):\(index + 1): '\(word(row).name)' \(error.message)",
                        "cannot read config from '\(path)'",
                    ]
                throw failure
            }
            if line.answer != nil { return }
        }
    }

    /// The name of a row, and what follows it.
    private static func word(_ row: some BidirectionalCollection<UInt8>) -> (name: String, rest: [UInt8]) {
        let text = row.drop(while: \.isSpace)
        let isSeparator: (UInt8) -> Bool = { $0.isSpace || $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ":") }
        // An option with dashes ends at a blank alone.
        let isDashed = text.first == UInt8(ascii: "-")
        let end = text.firstIndex { isDashed ? $0.isSpace : isSeparator($0) } ?? text.endIndex
        let rest = text[end...].drop { $0.isSpace || (!isDashed && isSeparator($0)) }
        return (text[..<end].text, Array(rest))
    }

    private static func read(
        row: [UInt8], number: Int, of path: String, into line: inout CurlCommandLine
    ) throws(CurlError) {
        let (written, rest) = word(row)
        guard !written.isEmpty, !written.hasPrefix("#") else { return }
        var value: String?
        if !rest.isEmpty { value = parameter(rest, written, "\(path):\(number)", &line.warnings) }
        let isUsed = try CurlOptionReader.read(written, value, into: &line)
        if let value, !value.isEmpty, !isUsed, line.answer == nil { throw CurlValueError.garbage }
    }

    /// The value of a row: in quotes with escapes, or up to a blank.
    private static func parameter(
        _ rest: [UInt8], _ name: String, _ place: String, _ warnings: inout [String]
    ) -> String {
        guard rest.first == UInt8(ascii: "\"") else {
            let value = rest.prefix { !$0.isSpace }
            let tail = rest[value.endIndex...].drop(while: \.isSpace)
            if let first = tail.first, first != UInt8(ascii: "#") {
                warnings.append(
                    "\(place): warning: '\(name)' uses unquoted whitespace\n"
                        + "Warning: This may cause side-effects. Consider using double quotes?")
            }
            return value.text
        }
        var value: [UInt8] = []
        var index = 1
        let escapes: [UInt8: UInt8] = [
            UInt8(ascii: "t"): 9, UInt8(ascii: "n"): 10, UInt8(ascii: "r"): 13, UInt8(ascii: "v"): 11,
        ]
        while index < rest.count, rest[index] != UInt8(ascii: "\"") {
            if rest[index] == UInt8(ascii: "\\"), index + 1 < rest.count {
                index += 1
                value.append(escapes[rest[index]] ?? rest[index])
            } else {
                value.append(rest[index])
            }
            index += 1
        }
        return value.text
    }
}
