/// Reads a URL as curl does (curl_url_set).
extension CurlURL {
    /// curl takes no longer text.
    private static let maximumBytes = 8_000_000
    /// The longest scheme.
    private static let maximumSchemeBytes = 40

    /// Reads an absolute URL, or with ``Rules/guessesScheme`` one without a scheme.
    init(_ text: String, _ rules: Rules = []) throws(CurlURLError) {
        try self.init(Array(text.utf8), rules)
    }

    /// Reads a URL that is not always UTF-8, such as a Location.
    init(_ bytes: [UInt8], _ rules: Rules) throws(CurlURLError) {
        let control: UInt8 = rules.contains(.allowsSpaces) ? 0x1F : 0x20
        guard !bytes.isEmpty, bytes.count <= CurlURL.maximumBytes,
            bytes.allSatisfy({ $0 > control && $0 != 127 })
        else { throw .malformed }
        let length = CurlURL.schemeLength(bytes, guessing: rules.contains(.guessesScheme))
        scheme = bytes[..<length].map(\.lowercase).text
        let rest: ArraySlice<UInt8>
        if scheme == "file" {
            rest = try CurlURL.pathOfFile(bytes)
        } else {
            rest = try parseHost(bytes, schemeLength: length, rules)
        }
        parsePath(rest, rules)
    }

    /// The length of the scheme of an absolute URL; 0 for another text. If schemes are guessed, `name:` without a slash
    /// is a host with a port.
    static func schemeLength(_ bytes: [UInt8], guessing: Bool) -> Int {
        guard let first = bytes.first, first.isLetter else { return 0 }
        let end =
            bytes.prefix(maximumSchemeBytes).firstIndex {
                !$0.isLetter && !$0.isDigit && ![0x2B, 0x2D, 0x2E].contains($0)
            } ?? min(bytes.count, maximumSchemeBytes)
        guard end < bytes.count, bytes[end] == UInt8(ascii: ":") else { return 0 }
        if guessing { return end + 1 < bytes.count && bytes[end + 1] == UInt8(ascii: "/") ? end : 0 }
        return end
    }

    private static func pathOfFile(_ bytes: [UInt8]) throws(CurlURLError) -> ArraySlice<UInt8> {
        guard bytes.count > 6 else { throw .badFile }
        var path = bytes[5...]
        if path.starts(with: "//".utf8) {
            path = path.dropFirst(2)
            if path.first != UInt8(ascii: "/") {
                guard path.hasPrefixIgnoringCase("localhost/") || path.hasPrefixIgnoringCase("127.0.0.1/") else {
                    throw .badFile
                }
                path = path.dropFirst(9)
            }
        }
        return path
    }

    /// Reads what is before the path, and returns the path with all after it.
    private mutating func parseHost(
        _ bytes: [UInt8], schemeLength: Int, _ rules: Rules
    ) throws(CurlURLError) -> ArraySlice<UInt8> {
        var rest = bytes[...]
        if schemeLength > 0 {
            rest = bytes[(schemeLength + 1)...]
            let slashes = rest.prefix(4).prefix { $0 == UInt8(ascii: "/") }.count
            guard rules.contains(.allowsAllSchemes) || CurlURL.defaultPort(of: scheme) != nil else {
                throw .unsupportedScheme
            }
            guard (1...3).contains(slashes) else { throw .badSlashes }
            rest = rest.dropFirst(slashes)
        } else if !rules.contains(.guessesScheme) {
            throw .badScheme
        }
        let end = rest.firstIndex { [0x2F, 0x3F, 0x23].contains($0) } ?? rest.endIndex
        guard end > rest.startIndex else { throw .noHost }
        try parse(authority: rest[..<end], hasScheme: schemeLength > 0)
        if schemeLength == 0 { scheme = CurlURL.guessedScheme(host) }
        return rest[end...]
    }

    private static func guessedScheme(_ host: String) -> String {
        let names: [(String, String)] = [
            ("ftp.", "ftp"), ("dict.", "dict"), ("ldap.", "ldap"), ("imap.", "imap"), ("smtp.", "smtp"),
            ("pop3.", "pop3"),
        ]
        return names.first { host.utf8.hasPrefixIgnoringCase($0.0) }?.1 ?? "http"
    }

    private mutating func parsePath(_ rest: ArraySlice<UInt8>, _ rules: Rules) {
        var rest = rest
        let encodes = rules.contains(.encodes)
        if let hash = rest.firstIndex(of: UInt8(ascii: "#")) {
            let piece = rest[(hash + 1)...]
            if !piece.isEmpty { fragment = (encodes ? CurlURL.encoded(piece, inQuery: false) : Array(piece)).text }
            rest = rest[..<hash]
        }
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            let piece = rest[(mark + 1)...]
            query = (encodes ? CurlURL.encoded(piece, inQuery: true) : Array(piece)).text
            rest = rest[..<mark]
        }
        var bytes = encodes ? CurlURL.encoded(rest, inQuery: false) : Array(rest)
        guard bytes.count > 1 else { return }
        if !rules.contains(.keepsPath) { bytes = CurlURL.removingDotSegments(bytes) }
        path = bytes.text
    }

    /// Encodes spaces, control characters and bytes outside ASCII; a space of a query becomes `+`.
    static func encoded(_ bytes: some Sequence<UInt8>, inQuery: Bool) -> [UInt8] {
        var result: [UInt8] = []
        var isInQuery = inQuery
        for byte in bytes {
            if byte == UInt8(ascii: " ") {
                result += isInQuery ? [UInt8(ascii: "+")] : Array("%20".utf8)
            } else if byte < 0x20 || byte >= 0x7F {
                result += [UInt8(ascii: "%")] + byte.hexadecimal.map(\.lowercase)
            } else {
                result.append(byte)
                if byte == UInt8(ascii: "?") { isInQuery = true }
            }
        }
        return result
    }

    /// Removes `.` and `..` segments (RFC 3986, 5.2.4); `%2e` counts as a dot.
    static func removingDotSegments(_ path: [UInt8]) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        guard path.first == slash else { return path }
        var kept: [[UInt8]] = []
        let segments = path.dropFirst().split(separator: slash, omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch dots(segment) {
            case 1: if isLast { kept.append([]) }
            case 2:
                _ = kept.popLast()
                if isLast { kept.append([]) }
            default: kept.append(Array(segment))
            }
        }
        return kept.flatMap { [slash] + $0 }
    }

    /// The number of dots of a segment that is nothing else; 0 for another segment.
    private static func dots(_ segment: ArraySlice<UInt8>) -> Int {
        var rest = segment
        var count = 0
        while let byte = rest.first {
            if byte == UInt8(ascii: ".") {
                rest = rest.dropFirst()
            } else if rest.hasPrefixIgnoringCase("%2e") {
                rest = rest.dropFirst(3)
            } else {
                return 0
            }
            count += 1
        }
        return count
    }
}
