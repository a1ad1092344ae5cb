internal import CarpoolSystem

/// `%{json}` and `%{header_json}`, as curl writes them.
enum CurlWriteOutJSON {
    /// All variables in one object, in curl's order and form.
    static func transfer(_ context: CurlWriteOutContext, version: String) -> [UInt8] {
        var result: [UInt8] = [UInt8(ascii: "{")]
        for variable in CurlWriteOutVariable.all {
            result += Array("\"\(variable.name)\":".utf8)
            switch variable.value(context) {
            case .none: result += Array("null".utf8)
            case .text(let text): result += quoted(text)
            case .number(let number): result += Array(String(number).utf8)
            case .status(let status): result += Array(String(status).utf8)
            case .time(let time): result += CurlWriteOutPrinter.seconds(time)
            }
            result.append(UInt8(ascii: ","))
        }
        return result + Array("\"curl_version\":".utf8) + quoted(version) + [UInt8(ascii: "}")]
    }

    /// The fields of the last response: the values of each name in a list, in the order in which names first appear.
    static func headers(_ report: CurlReport) -> [UInt8] {
        var names: [String] = []
        var values: [String: [String]] = [:]
        for field in report.headers {
            let name = field.name.utf8.map(\.lowercase).text
            if values[name] == nil { names.append(name) }
            values[name, default: []].append(field.value)
        }
        var result: [UInt8] = [UInt8(ascii: "{")]
        for (index, name) in names.enumerated() {
            if index > 0 { result += Array(",\n".utf8) }
            let list = (values[name] ?? []).map(quoted).joined(separator: CollectionOfOne(UInt8(ascii: ",")))
            result += quoted(name) + Array(":[".utf8) + list + [UInt8(ascii: "]")]
        }
        return result + Array("\n}".utf8)
    }

    /// A string of JSON; bytes outside ASCII stay as they are.
    static func quoted(_ text: String) -> [UInt8] {
        var result: [UInt8] = [UInt8(ascii: "\"")]
        for byte in SystemPath.bytes(of: text) {
            switch byte {
            case UInt8(ascii: "\\"), UInt8(ascii: "\""): result += [UInt8(ascii: "\\"), byte]
            case 8: result += Array("\\b".utf8)
            case 9: result += Array("\\t".utf8)
            case 10: result += Array("\\n".utf8)
            case 12: result += Array("\\f".utf8)
            case 13: result += Array("\\r".utf8)
            case 0..<32: result += Array("\\u00".utf8) + byte.hexadecimal.map(\.lowercase)
            default: result.append(byte)
            }
        }
        return result + [UInt8(ascii: "\"")]
    }
}
