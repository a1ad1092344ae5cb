internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// The options of cookies. A request with them has a jar of its own: that of the session is neither used nor changed.
struct CookieArguments: Equatable {
    /// Cookies as `NAME=VALUE; NAME=VALUE`; `nil` for none.
    private(set) var text: String?
    /// The files to read; an empty name is none, and a jar in which redirects keep cookies.
    private(set) var files: [String] = []
    /// The file that is written at the end; `-` for standard output, `nil` for none.
    var jar: String?
    var dropsSessionCookies = false
    /// The text of the files; `nil` until they are read.
    private var content: String?

    /// Whether there are files to read, or one to write.
    var hasJar: Bool { !files.isEmpty || jar != nil }

    /// The maximum size of all files together, as in the daemon.
    private static let maximumBytes = 1_048_576

    /// Takes the value of `--cookie`: cookies if it has an equals sign, otherwise the name of a file.
    mutating func add(_ value: String) {
        guard value.contains("=") else { return files.append(value) }
        text = text.map { "\($0);\(value)" } ?? value
    }

    /// Reads the files. One that is missing is empty, as in curl, with a warning unless it is the one to write.
    mutating func readFiles() throws(Failure) {
        guard self.content == nil else { return }
        try checkJar()
        var content = ""
        for file in files where !file.isEmpty {
            do throws(SystemError) {
                // A line with other bytes is no cookie.
                for line in try InputFile.read(file, atMost: CookieArguments.maximumBytes)
                    .split(separator: UInt8(ascii: "\n"))
                {
                    if let line = String(validating: line, as: UTF8.self) { content += "\(line)\n" }
                }
            } catch {
                guard error.code == ENOENT else {
                    throw Failure(error.exitCode(or: .usage), "cannot read the cookies: \(error)")
                }
                if file != jar {
                    Terminal.printError("carpool: warning: \(file) does not exist, and no cookies are read from it")
                }
            }
        }
        guard content.utf8.count <= CookieArguments.maximumBytes else {
            throw Failure(
                .usage, "the files of cookies have more than \(CookieArguments.maximumBytes) bytes",
                hint: "remove the cookies of other hosts")
        }
        self.content = content
    }

    /// Checks before the request that the file can be written.
    private func checkJar() throws(Failure) {
        guard let jar, jar != "-" else { return }
        do throws(SystemError) {
            // With a slash at the end it is the name of a directory.
            try OutputFile.check(jar.hasSuffix("/") ? "\(jar)." : jar)
        } catch {
            throw Failure(
                .usage, "cannot write the cookies to \(jar): \(error.reason)",
                hint: error.code == EISDIR ? "-c takes the name of a file" : error.advice)
        }
    }

    /// Writes the parameter `cookies`. Without a jar the text is a header field, and the parameter keeps the response
    /// out of the session's jar.
    func write(to writer: inout JSONWriter) {
        guard hasJar || text != nil else { return }
        writer.key("cookies")
        writer.beginObject()
        if hasJar, let text { CookieArguments.write(text, to: &writer) }
        if let content, !content.isEmpty { writer.member("import", content) }
        if dropsSessionCookies { writer.member("drop_session_cookies", true) }
        if jar != nil { writer.member("export", true) }
        writer.endObject()
    }

    private static func write(_ text: String, to writer: inout JSONWriter) {
        writer.key("set")
        writer.beginArray()
        for part in text.split(separator: ";") {
            let cookie = part.trimmingBlanks
            guard !cookie.isEmpty, cookie != "=" else { continue }
            let equals = cookie.firstIndex(of: "=")
            writer.beginObject()
            writer.member("name", equals.map { String(cookie[..<$0].trimmingBlanks) } ?? "")
            writer.member("value", String(equals.map { cookie[cookie.index(after: $0)...].trimmingBlanks } ?? cookie))
            writer.endObject()
        }
        writer.endArray()
    }
}

extension Substring {
    /// Without blanks at both ends.
    fileprivate var trimmingBlanks: Substring {
        func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
        guard let last = lastIndex(where: { !isBlank($0) }) else { return "" }
        return self[...last].drop(while: isBlank)
    }
}
