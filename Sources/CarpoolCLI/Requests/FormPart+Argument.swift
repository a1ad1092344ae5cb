internal import CarpoolCaller
internal import CarpoolClient

extension FormPart {
    /// Parses the value of `-F`: `NAME=VALUE` or `NAME=@FILE`, optionally with `;type=MIME` and `;filename=NAME`.
    init(_ text: String) throws(UsageError) {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
            throw UsageError("-F takes 'NAME=VALUE' or 'NAME=@FILE', not '\(text)'")
        }
        let name = String(text[..<equals])
        var value = text[text.index(after: equals)...]
        var type: String?
        var fileName: String?
        while let (attribute, argument, rest) = FormPart.lastAttribute(of: value) {
            if attribute == "type" { type = argument } else { fileName = argument }
            value = rest
        }
        guard value.first == "@" else {
            self.init(name: name, content: .text(String(value)), type: type, fileName: fileName)
            return
        }
        let path = String(value.dropFirst())
        guard !path.isEmpty, path != "-" else {
            throw UsageError("-F \(name)=@ needs the name of a file; -T - sends standard input")
        }
        self.init(name: name, content: .file(path), type: type, fileName: fileName)
    }

    /// The attribute at the end, if its name is known: a value may contain semicolons.
    private static func lastAttribute(of value: Substring) -> (name: String, value: String, rest: Substring)? {
        guard let semicolon = value.lastIndex(of: ";") else { return nil }
        let attribute = value[value.index(after: semicolon)...].drop { $0 == " " }
        for name in ["type", "filename"] where attribute.hasPrefix("\(name)=") {
            return (name, String(attribute.dropFirst(name.count + 1)), value[..<semicolon])
        }
        return nil
    }
}
