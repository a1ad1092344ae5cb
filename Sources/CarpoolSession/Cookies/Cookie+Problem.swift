// Whether a cookie can be stored, sent and written to a file: one rule for all ways into a jar.
extension Cookie {
    /// Why a cookie cannot be stored.
    public struct Problem {
        /// The member, as the interface names it.
        public let member: StaticString
        /// What is wrong with it.
        public let message: String
        /// What it should be.
        public let expected: String
    }

    /// Why the cookie cannot be part of a field and of a line, or lacks the properties that the prefix of its name
    /// requires; `nil` if it can be stored.
    public var problem: Problem? {
        if name.isEmpty, value.isEmpty {
            return Problem(member: "name", message: "name and value are empty", expected: "a name")
        }
        if name.isEmpty, value.utf8.contains(UInt8(ascii: "=")) {
            return Problem(
                member: "name", message: "without a name, the server reads the beginning of the value as one",
                expected: "a name, or a value without an equals sign")
        }
        if name.utf8.count + value.utf8.count > Cookie.maximumBytes {
            return Problem(
                member: "value", message: "name and value have more than \(Cookie.maximumBytes) bytes",
                expected: "at most \(Cookie.maximumBytes) bytes together")
        }
        let clean = "text without control characters and semicolons, and without blanks around it"
        if !Cookie.isClean(name) || name.utf8.contains(where: { $0 == UInt8(ascii: "=") || $0 == 0x09 }) {
            return Problem(
                member: "name", message: "a control character, a semicolon, an equals sign, or a blank at an end",
                expected: "\(clean), and without equals signs")
        }
        // A tab would begin another member of a line.
        if !Cookie.isClean(value) || value.utf8.contains(0x09) {
            return Problem(
                member: "value", message: "a control character, a semicolon, or a blank at an end", expected: clean)
        }
        if path.utf8.first != UInt8(ascii: "/") || path.utf8.count > Cookie.maximumPathBytes
            || !Cookie.isClean(path) || path.utf8.contains(0x09)
        {
            return Problem(
                member: "path", message: "not a path of a cookie",
                expected: "a path that begins with a slash, without tabs, of at most \(Cookie.maximumPathBytes) bytes")
        }
        guard !keepsItsPrefix() else { return nil }
        return Problem(
            member: "name", message: "the cookie does not have the properties that the prefix of its name requires",
            expected: "secure true for __Secure-; also host_only true and path / for __Host-")
    }

    private static func isClean(_ text: String) -> Bool {
        func isBlank(_ byte: UInt8?) -> Bool { byte == 0x20 || byte == 0x09 }
        guard !isBlank(text.utf8.first), !isBlank(text.utf8.last) else { return false }
        return text.utf8.allSatisfy { ($0 >= 0x20 || $0 == 0x09) && $0 != 0x7F && $0 != UInt8(ascii: ";") }
    }
}
