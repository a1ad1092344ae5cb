/// Formats compact JSON with line breaks: two spaces for each level, ` : ` between name and value, as in the model's
/// pretty form.
enum JSONLayout {
    static func indented(_ json: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(json.count &* 2)
        var depth = 0
        var isInString = false
        var isEscaped = false
        for (index, byte) in json.enumerated() {
            if isInString {
                output.append(byte)
                isInString = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                output.append(byte)
                // A closing bracket is its opening bracket plus two.
                if index &+ 1 < json.count, json[index &+ 1] == byte &+ 2 { continue }
                depth &+= 1
                newLine(depth, &output)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if index > 0, json[index &- 1] != byte &- 2 {
                    depth &-= 1
                    newLine(depth, &output)
                }
                output.append(byte)
            case UInt8(ascii: ","):
                output.append(byte)
                newLine(depth, &output)
            case UInt8(ascii: ":"): output.append(contentsOf: " : ".utf8)
            default:
                output.append(byte)
                isInString = byte == UInt8(ascii: "\"")
            }
        }
        return output
    }

    private static func newLine(_ depth: Int, _ output: inout [UInt8]) {
        output.append(UInt8(ascii: "\n"))
        output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: max(0, depth) &* 2))
    }
}
