internal import CarpoolJSON

/// Writes Apple's XML property lists, one element a line, indented by tabs.
struct XMLPropertyListWriter {
    private static let head = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">

        """

    private var bytes = Array(head.utf8)

    /// Writes a value that ``PropertyListRules`` accept.
    static func bytes(of value: StructuredValue) -> [UInt8] {
        var writer = XMLPropertyListWriter()
        writer.write(value, depth: 0)
        writer.line("</plist>", depth: 0)
        return writer.bytes
    }

    private mutating func write(_ value: StructuredValue, depth: Int) {
        switch value {
        case .array(let elements):
            container("array", isEmpty: elements.isEmpty, depth) { writer in
                for element in elements { writer.write(element, depth: depth + 1) }
            }
        case .object(let members):
            container("dict", isEmpty: members.isEmpty, depth) { writer in
                for member in members {
                    writer.element("key", member.name, depth + 1)
                    writer.write(member.value, depth: depth + 1)
                }
            }
        case .bool(let bool): line(bool ? "<true/>" : "<false/>", depth: depth)
        case .integer(let integer): element("integer", integer.description, depth)
        case .unsigned(let integer): element("integer", integer.description, depth)
        case .real(let real): element("real", real.description, depth)
        case .number(let text), .decimal(let text): element("real", (Double(text) ?? 0).description, depth)
        case .string(let text): element("string", text, depth)
        case .data(let data):
            begin("data", depth)
            data.withUnsafeBytes { Base64.encode($0, into: &bytes) }
            end("data")
        case .date(let seconds):
            // The second in which the moment lies.
            element("date", DateFormat.internet.text(forSecondsSince1970: seconds.rounded(.down)) ?? "", depth)
        case .null: break
        }
    }

    private mutating func container(_ tag: String, isEmpty: Bool, _ depth: Int, content: (inout Self) -> Void) {
        guard !isEmpty else { return line("<\(tag)/>", depth: depth) }
        line("<\(tag)>", depth: depth)
        content(&self)
        line("</\(tag)>", depth: depth)
    }

    private mutating func line(_ text: String, depth: Int) {
        bytes += repeatElement(UInt8(ascii: "\t"), count: depth)
        bytes += text.utf8
        bytes.append(UInt8(ascii: "\n"))
    }

    private mutating func begin(_ tag: String, _ depth: Int) {
        bytes += repeatElement(UInt8(ascii: "\t"), count: depth)
        bytes += "<\(tag)>".utf8
    }

    private mutating func end(_ tag: String) { bytes += "</\(tag)>\n".utf8 }

    private mutating func element(_ tag: String, _ text: String, _ depth: Int) {
        begin(tag, depth)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            // Readers turn a carriage return that is not escaped into a line feed (XML 1.0, section 2.11).
            case UInt8(ascii: "\r"): bytes += "&#13;".utf8
            default: bytes.append(byte)
            }
        }
        end(tag)
    }
}
