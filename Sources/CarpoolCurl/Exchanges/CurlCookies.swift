internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// The cookies of a command, which all of its transfers share whose operation has `-b` with a file or `-c`.
final class CurlCookies {
    /// The cookies of one exchange.
    struct Jar {
        /// The content of a cookie file.
        let text: String
        /// The strings of `-b`, which are sent too.
        let strings: [String]
        /// How many fields come before the field `Cookie`.
        var place = 0
    }

    /// The lines of a cookie file, in the order in which the cookies were made.
    private var lines: [String] = []
    private var files: Set<String> = []

    /// The maximum of all cookies together, as in the daemon.
    private static let maximumBytes = 1_048_576

    /// Reads the files of an operation that were not read yet; one that is missing is empty.
    func read(_ operation: CurlOperation) -> [String] {
        var warnings: [String] = []
        let named = operation.request.cookies.filter { !$0.contains("=") }
        // Of several lines about one cookie the last one counts.
        var places: [[String]: Int] = [:]
        for (index, line) in lines.enumerated() { places[CurlCookies.key(line)] = index }
        for file in named where !file.isEmpty && files.insert(file).inserted {
            guard let bytes = try? CurlFile.read(file, standardInput: 0, atMost: CurlCookies.maximumBytes) else {
                continue
            }
            for line in bytes.split(separator: 10) {
                guard let line = String(validating: line, as: UTF8.self), keeps(line, operation) else { continue }
                if let place = places[CurlCookies.key(line)] {
                    lines[place] = line
                } else {
                    places[CurlCookies.key(line)] = lines.count
                    lines.append(line)
                }
            }
        }
        if lines.reduce(0, { $0 + $1.utf8.count + 1 }) > CurlCookies.maximumBytes {
            warnings.append("The files of cookies have more than \(CurlCookies.maximumBytes) bytes: they are not used")
            lines = []
        }
        return warnings
    }

    /// `-j`: a cookie without an expiry date is dropped.
    private func keeps(_ line: String, _ operation: CurlOperation) -> Bool {
        guard CurlCookies.isCookie(line) else { return line.utf8.hasPrefixIgnoringCase("Set-Cookie:") }
        guard operation.request.dropsSessionCookies else { return true }
        let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
        return columns.count < 5 || columns[4] != "0"
    }

    /// Whether a line has a cookie, and is no comment.
    private static func isCookie(_ line: some StringProtocol) -> Bool {
        line.contains("\t") && (!line.hasPrefix("#") || line.hasPrefix("#HttpOnly_"))
    }

    /// By what cookies differ: the domain, whether it is for the hosts below it, path and name; of a field Set-Cookie
    /// the name and what it says of domain and path.
    private static func key(_ line: String) -> [String] {
        guard !line.utf8.hasPrefixIgnoringCase("Set-Cookie:") else { return key(ofField: line) }
        let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
        guard columns.count > 5 else { return columns.map(String.init) }
        return [domain(columns[0]), columns[1].uppercased(), String(columns[2]), String(columns[5])]
    }

    private static func key(ofField line: String) -> [String] {
        var key = ["", "", ""]
        let parts = line.utf8.dropFirst("Set-Cookie:".utf8.count).split(separator: UInt8(ascii: ";"))
        for (index, part) in parts.enumerated() {
            let name = part.prefix { $0 != UInt8(ascii: "=") }.trimmingBlanks.text
            let value = part.dropFirst(name.utf8.count).drop { $0 != UInt8(ascii: "=") }.dropFirst().trimmingBlanks.text
            switch (index, name.lowercased()) {
            case (0, _): key[0] = name
            case (_, "domain"): key[1] = domain(Substring(value))
            case (_, "path"): key[2] = value
            default: break
            }
        }
        return key
    }

    /// A domain without what marks a cookie of HTTP alone, and without the dot before it.
    private static func domain(_ column: Substring) -> String {
        let rest = column.utf8.starts(with: httpOnly.utf8) ? column.dropFirst(httpOnly.count) : column
        return rest.drop { $0 == "." }.lowercased()
    }

    /// The lengths of the domain and the name.
    private static func lengths(_ line: String) -> (Int, Int) {
        let key = key(line)
        return key.count == 4 ? (key[0].utf8.count, key[3].utf8.count) : (0, 0)
    }

    private static let httpOnly = "#HttpOnly_"

    /// The cookies for an exchange; `nil` if its operation keeps none. The newest come first, as curl sends them.
    func jar(_ request: CurlRequestOptions) -> Jar? {
        guard request.cookieJar != nil || request.cookies.contains(where: { !$0.contains("=") }) else { return nil }
        // Longer domains and names first, and of equal ones the newest.
        let order = lines.indices.sorted { one, other in
            let (left, right) = (CurlCookies.lengths(lines[one]), CurlCookies.lengths(lines[other]))
            return left == right ? one > other : left > right
        }
        return Jar(
            text: order.map { "\(lines[$0])\n" }.joined(),
            strings: request.cookies.filter { $0.contains("=") })
    }

    /// Takes the cookies that an exchange has left.
    func take(_ record: JSON, _ jar: Jar) {
        guard let exported = record["cookies"]?["text"]?.string else { return }
        let sent = Set(jar.pairs.map { "\($0.name)\t\($0.value)" })
        var found = exported.split(separator: "\n").filter(CurlCookies.isCookie).map(String.init)
        let known = Set(lines)
        // The strings of -b are sent, and not kept: a cookie in whose place one was sent stays as it was.
        var replaced: Set<[String]> = []
        found.removeAll { line in
            guard !known.contains(line), sent.contains(where: { line.hasSuffix("\t\($0)") }) else { return false }
            replaced.insert(CurlCookies.key(line))
            return true
        }
        var values: [[String]: String] = [:]
        for line in found { values[CurlCookies.key(line)] = line }
        let kept = lines.compactMap { line in
            let key = CurlCookies.key(line)
            return values.removeValue(forKey: key) ?? (replaced.contains(key) ? line : nil)
        }
        lines = kept + found.filter { values[CurlCookies.key($0)] != nil }
    }

    /// Writes the file of `-c`; returns a remark, which curl prints with `-v` alone, if that fails.
    func write(to path: String, _ output: CurlStandardOutput) -> String? {
        let content =
            "# Netscape HTTP Cookie File\n# https://curl.se/docs/http-cookies.html\n"
            + "# This file was generated by libcurl! Edit at your own risk.\n\n"
            + lines.reversed().map { "\($0)\n" }.joined()
        do throws(SystemError) {
            if path == "-" {
                try output.write(Array(content.utf8))
            } else {
                let output = try OutputFile(path)
                try BlockingOutput(borrowing: output.descriptor.raw, isNamed: true).write(Array(content.utf8))
                try output.commit()
            }
            return nil
        } catch {
            return "WARNING: failed to save cookies in \(path): (\(CurlExitCode.writeError)) "
                + CurlErrorText.of(CurlExitCode.writeError)
        }
    }
}

extension CurlCookies.Jar {
    /// The names and values of the strings.
    fileprivate var pairs: [(name: String, value: String)] {
        strings.flatMap { $0.split(separator: ";") }.compactMap { part in
            let bytes = part.utf8.trimmingBlanks
            guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            return (bytes[..<equals].trimmingBlanks.text, bytes[bytes.index(after: equals)...].trimmingBlanks.text)
        }
    }

    /// Writes the parameter `cookies`.
    func write(to writer: inout JSONWriter) {
        writer.key("cookies")
        writer.beginObject()
        if !text.isEmpty { writer.member("import", text) }
        if !strings.isEmpty {
            writer.key("set")
            writer.beginArray()
            for pair in pairs {
                writer.beginObject()
                writer.member("name", pair.name)
                writer.member("value", pair.value)
                writer.endObject()
            }
            writer.endArray()
        }
        writer.member("export", true)
        writer.member("place", place)
        writer.endObject()
    }
}
