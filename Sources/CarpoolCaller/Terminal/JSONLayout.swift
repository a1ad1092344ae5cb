internal import CarpoolJSON

/// Lays out JSON for people: indented, and coloured on a terminal. Numbers and strings keep their text, members their
/// order.
package struct JSONLayout {
    /// Whether names and values have colours (ECMA-48, SGR).
    let hasColors: Bool

    /// Longer texts are printed as they are: to lay them out takes several times their memory.
    static let maximumBytes = 1_048_576

    private static let name = Array("\u{1B}[1;34m".utf8)
    private static let string = Array("\u{1B}[32m".utf8)
    private static let number = Array("\u{1B}[36m".utf8)
    private static let literal = Array("\u{1B}[33m".utf8)
    private static let plain = Array("\u{1B}[0m".utf8)

    /// - Parameter hasColors: whether names and values have colours.
    package init(hasColors: Bool) { self.hasColors = hasColors }

    /// The text with line ends and indentation; `nil` if it is not JSON, or too long.
    package func text(_ json: [UInt8]) -> [UInt8]? {
        guard json.count <= JSONLayout.maximumBytes, (try? JSON.parse(json)) != nil else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(json.count * 2)
        var depth = 0
        var index = 0
        while index < json.count {
            let byte = json[index]
            let start = index
            index += 1
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                result.append(byte)
                let next = JSONLayout.token(json, index)
                if next < json.count, json[next] == byte + 2 {
                    result.append(byte + 2)
                    index = next + 1
                } else {
                    depth += 1
                    JSONLayout.indent(depth, &result)
                }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                JSONLayout.indent(depth, &result)
                result.append(byte)
            case UInt8(ascii: ","):
                result.append(byte)
                JSONLayout.indent(depth, &result)
            case UInt8(ascii: ":"): result += [byte, 0x20]
            default:
                index = JSONLayout.end(of: json, start)
                append(json[start..<index], isName: JSONLayout.isName(json, index), to: &result)
            }
        }
        return result + [0x0A]
    }

    private func append(_ token: ArraySlice<UInt8>, isName: Bool, to result: inout [UInt8]) {
        guard hasColors, let first = token.first else { return result += token }
        switch first {
        case UInt8(ascii: "\""): result += isName ? JSONLayout.name : JSONLayout.string
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"): result += JSONLayout.literal
        default: result += JSONLayout.number
        }
        result += token
        result += JSONLayout.plain
    }

    private static func indent(_ depth: Int, _ result: inout [UInt8]) {
        result.append(0x0A)
        result += [UInt8](repeating: 0x20, count: 2 * max(0, depth))
    }

    /// The index of the next byte that is no blank.
    private static func token(_ json: [UInt8], _ index: Int) -> Int {
        json[index...].firstIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } ?? json.count
    }

    /// The end of a string, a number or a literal.
    private static func end(of json: [UInt8], _ start: Int) -> Int {
        var index = start + 1
        guard json[start] == UInt8(ascii: "\"") else {
            return json[index...].firstIndex { ",:]} \t\n\r".utf8.contains($0) } ?? json.count
        }
        while index < json.count, json[index] != UInt8(ascii: "\"") {
            index += json[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(json.count, index + 1)
    }

    /// Whether a colon follows.
    private static func isName(_ json: [UInt8], _ index: Int) -> Bool {
        let next = token(json, index)
        return next < json.count && json[next] == UInt8(ascii: ":")
    }
}
