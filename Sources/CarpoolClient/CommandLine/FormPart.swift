internal import CarpoolJSON
internal import CarpoolSystem

/// A part of a form as it was typed: `NAME=VALUE`, or `NAME=@FILE`, each with `;type=MIME` and `;filename=NAME` behind it.
package struct FormPart: Equatable {
    /// Where its content comes from.
    package enum Content: Equatable {
        case text(String)
        case file(String)
    }

    package let name: String
    package let content: Content
    /// Its type; `nil` for what the daemon makes of the file's name.
    package private(set) var type: String?
    /// The name that the server is told; `nil` for the file's own.
    package private(set) var fileName: String?

    package init(_ text: String, _ command: Command) throws(UsageError) {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
            throw UsageError("-F takes 'NAME=VALUE' or 'NAME=@FILE', not '\(text)'", in: command)
        }
        name = String(text[..<equals])
        var value = text[text.index(after: equals)...]
        while let (name, attribute, rest) = FormPart.lastAttribute(of: value) {
            if name == "type" { type = attribute } else { fileName = attribute }
            value = rest
        }
        guard value.first == "@" else {
            content = .text(String(value))
            return
        }
        let path = String(value.dropFirst())
        guard !path.isEmpty, path != "-" else {
            throw UsageError("-F \(self.name)=@ needs the name of a file; -T - sends what comes in", in: command)
        }
        content = .file(path)
    }

    /// Only what is one of ours: a value may well have a semicolon in it.
    private static func lastAttribute(of value: Substring) -> (name: String, value: String, rest: Substring)? {
        guard let semicolon = value.lastIndex(of: ";") else { return nil }
        let attribute = value[value.index(after: semicolon)...].drop { $0 == " " }
        for name in ["type", "filename"] where attribute.hasPrefix("\(name)=") {
            return (name, String(attribute.dropFirst(name.count + 1)), value[..<semicolon])
        }
        return nil
    }

    /// The daemon makes a file's name of its path only where that has an extension.
    private var ownName: String? {
        guard case .file(let path) = content else { return nil }
        return path.split(separator: "/").last.map(String.init)
    }

    /// Writes it as the daemon takes it.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", name)
        switch content {
        case .text(let text): writer.member("text", text)
        case .file(let path): writer.member("file", SocketLocation.absolute(path))
        }
        writer.member("file_name", fileName ?? ownName)
        writer.member("content_type", type)
        writer.endObject()
    }
}
