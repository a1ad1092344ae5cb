/// The names of the files that responses are written to. Nothing is opened here.
enum CurlFileName {
    /// The name for a URL without one.
    static let fallback = "curl_response"

    private static let slash = UInt8(ascii: "/")
    private static let backslash = UInt8(ascii: "\\")

    /// The name of `-O`: the last part of the path of a URL, and if that is empty the part before it, as it is written.
    /// `nil` if the path has no part: the name is ``fallback``, and curl warns of it (``fallbackWarning``).
    static func remote(_ url: String) throws(CurlError) -> String? {
        let parsed: CurlURL
        do throws(CurlURLError) {
            parsed = try CurlURL(url, .guessesScheme)
        } catch {
            var failure = CurlError(error.exitCode)
            failure.reasons = ["Failed to extract a filename from the URL to use for storage"]
            throw failure
        }
        var path = Array(parsed.pathOrRoot.utf8)[...]
        if path.last == slash || path.last == backslash { path.removeLast() }
        return path.lastIndex(where: isSeparator).map { path[($0 + 1)...].text }
    }

    static let fallbackWarning = "No remote file name, uses \"\(fallback)\""

    /// The name that a field Content-Disposition gives (`-J`): that of the first parameter `filename=`, without
    /// folders. It may be empty, which cannot be opened. `nil` if there is none; then the name is that of the URL.
    static func disposition(_ value: String) -> String? {
        let bytes = Array(value.utf8)
        var index = 0
        while let start = bytes[index...].firstIndex(where: \.isLetter) {
            if bytes[start...].starts(with: "filename=".utf8) { return name(bytes[(start + 9)...]) }
            guard let end = bytes[start...].firstIndex(of: UInt8(ascii: ";")) else { return nil }
            index = end
        }
        return nil
    }

    /// The value of `filename=`, in quotes of either kind or up to a semicolon, without folders.
    private static func name(_ text: ArraySlice<UInt8>) -> String? {
        var text = text
        var stop = UInt8(ascii: ";")
        if let quote = text.first, quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") {
            stop = quote
            text = text.dropFirst()
        }
        let isEnded = text.contains(stop)
        text = text.prefix { $0 != stop && $0 != 0 }
        for separator in [slash, backslash] {
            guard let last = text.lastIndex(of: separator) else { continue }
            text = text[(last + 1)...]
            // A value that goes to the end of the line has the line end after the separator.
            if text.isEmpty { return isEnded ? nil : "" }
        }
        return text.prefix { $0 != 13 && $0 != 10 }.text
    }

    private static func isSeparator(_ byte: UInt8) -> Bool { byte == slash || byte == backslash }

    /// A name in the folder of `--output-dir`; an absolute name is below the folder too.
    static func path(_ name: String, in directory: String?) -> String {
        guard let directory, !directory.isEmpty else { return name }
        return "\(directory)/\(name)"
    }
}
