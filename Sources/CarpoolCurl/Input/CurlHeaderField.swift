/// A header field of a request.
struct CurlHeaderField: Equatable {
    let name: String
    /// The value without blanks at its ends.
    let value: String
    /// The line as curl sends it on HTTP/1.1: a custom one as it was written, with its blanks.
    let line: String

    private init(name: String, value: String, line: String) {
        self.name = name
        self.value = value
        self.line = line
    }

    /// Whether the line has other blanks than one behind the colon.
    var hasOwnBlanks: Bool {
        let rest = line.utf8.dropFirst(name.utf8.count)
        return !value.isEmpty && !(rest.count == value.utf8.count + 2 && rest.starts(with: ": ".utf8))
    }

    /// A field that curl adds by itself.
    init(_ name: String, _ value: String) {
        self.init(name: name, value: value, line: value.isEmpty ? name + ":" : "\(name): \(value)")
    }

    /// The field of a line `Host:`, from what is after the colon.
    init(host text: String) {
        self.init(name: "Host", value: text.utf8.trimmingBlanks.text, line: "Host:" + text)
    }

    /// The line of `-H`, as far as curl sends it: `Name;` is a field without a value; `nil` for a line that removes a
    /// field (`Name:`) or is none.
    init?(custom text: String) {
        let bytes = text.utf8
        if let semicolon = bytes.firstIndex(of: UInt8(ascii: ";")), bytes.index(after: semicolon) == bytes.endIndex,
            semicolon > bytes.startIndex, !bytes[..<semicolon].contains(UInt8(ascii: ":"))
        {
            self.init(String(text[..<semicolon]), "")
            return
        }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > bytes.startIndex else { return nil }
        let value = bytes[bytes.index(after: colon)...].trimmingBlanks
        guard !value.isEmpty else { return nil }
        self.init(name: String(text[..<colon]), value: String(decoding: value, as: UTF8.self), line: text)
    }
}

extension [String] {
    /// The first line that names a field, by its name before `:` or `;`: it replaces or removes the field of curl.
    func line(of name: String) -> String? {
        first { line in
            guard line.utf8.hasPrefixIgnoringCase(name) else { return false }
            let next = line.utf8.dropFirst(name.utf8.count).first
            return next == UInt8(ascii: ":") || next == UInt8(ascii: ";")
        }
    }

    /// The value of the line of a field, without blanks; `nil` without one.
    func value(of name: String) -> String? {
        line(of: name).map { line in
            String(decoding: line.utf8.dropFirst(name.utf8.count + 1).trimmingBlanks, as: UTF8.self)
        }
    }
}
