/// Reads the text of one `-F`: a value and its parameters after semicolons.
struct CurlFormText {
    /// A value with its parameters.
    struct Value {
        var data: [UInt8] = []
        var type: [UInt8]?
        var fileName: [UInt8]?
        var encoder: [UInt8]?
        /// The lines of `headers=`, or files of lines.
        var headers: [Header] = []
        /// The byte after it; `nil` at the end.
        var separator: UInt8?
    }

    enum Header {
        case line([UInt8])
        case file([UInt8])
    }

    let bytes: [UInt8]
    var index = 0
    private(set) var warnings: [String] = []

    private static let semicolon = UInt8(ascii: ";")
    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")
    /// What ends a type and subtype.
    private static let typeEnds = Set("()<>@,;:\\\"[]?=\r\n ".utf8)

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// The rest of the text.
    var rest: [UInt8] { Array(bytes[index...]) }

    /// Reads a value and its parameters, up to the end or to a comma if one ends a file.
    mutating func value(endsWith end: UInt8? = nil) -> Value {
        var value = Value(data: argument(end))
        // Where the type began, and where it ends so far, since parameters belong to it.
        var type: (start: Int, end: Int)?
        while byte == CurlFormText.semicolon {
            index += 1
            skipBlanks()
            if type == nil, take("type=") {
                skipBlanks()
                let start = index
                while let byte, !CurlFormText.typeEnds.contains(byte) { index += 1 }
                type = (start, index)
            } else if !readParameter(&value, end, &type) {
                readRest(end, &type)
            }
        }
        if let type { value.type = Array(bytes[type.start..<type.end]) }
        value.separator = byte
        return value
    }

    /// Reads a parameter that ends the type; returns whether there was one.
    private mutating func readParameter(
        _ value: inout Value, _ end: UInt8?, _ type: inout (start: Int, end: Int)?
    ) -> Bool {
        let start = index
        if take("filename=") {
            value.fileName = argument(end)
        } else if take("headers=") {
            if byte == UInt8(ascii: "@") || byte == UInt8(ascii: "<") {
                index += 1
                value.headers.append(.file(argument(end)))
            } else {
                value.headers.append(.line(argument(end)))
            }
        } else if take("encoder=") {
            value.encoder = argument(end)
        } else {
            index = start
            return false
        }
        if let known = type { value.type = Array(bytes[known.start..<known.end]) }
        type = nil
        return true
    }

    /// Reads a parameter of the type, or skips an unknown one.
    private mutating func readRest(_ end: UInt8?, _ type: inout (start: Int, end: Int)?) {
        guard let known = type else {
            let unknown = word(end).text
            if !unknown.isEmpty { warnings.append("skip unknown form field: \(unknown.text)") }
            return
        }
        var last = index
        while let byte, byte != CurlFormText.semicolon, byte != end {
            index += 1
            if !byte.isBlank { last = index }
        }
        type = (known.start, last)
    }

    private mutating func skipBlanks() {
        while byte?.isBlank == true { index += 1 }
    }

    private mutating func take(_ name: String) -> Bool {
        guard bytes[index...].hasPrefixIgnoringCase(name) else { return false }
        index += name.utf8.count
        return true
    }

    /// A word after blanks; blanks at the end of one without quotes are not part of it.
    private mutating func argument(_ end: UInt8?) -> [UInt8] {
        skipBlanks()
        let (text, isQuoted) = word(end)
        guard !isQuoted, let last = text.lastIndex(where: { !$0.isBlank }) else { return isQuoted ? text : [] }
        return Array(text[...last])
    }

    private mutating func word(_ end: UInt8?) -> (text: [UInt8], isQuoted: Bool) {
        if let text = quotedWord(end) { return (text, true) }
        let start = index
        skipWord(end)
        return (Array(bytes[start..<index]), false)
    }

    /// Moves to the end of a word; returns whether something but spaces was there.
    @discardableResult private mutating func skipWord(_ end: UInt8?) -> Bool {
        var isBlank = true
        while let byte, byte != CurlFormText.semicolon, byte != end {
            isBlank = isBlank && byte.isSpace
            index += 1
        }
        return !isBlank
    }

    /// A word in quotes, in which a backslash protects a quote and a backslash; `nil` if the closing quote is missing.
    private mutating func quotedWord(_ end: UInt8?) -> [UInt8]? {
        guard byte == CurlFormText.quote else { return nil }
        var text: [UInt8] = []
        var place = index + 1
        while place < bytes.count {
            let byte = bytes[place]
            let next = place + 1 < bytes.count ? bytes[place + 1] : 0
            if byte == CurlFormText.backslash, next == CurlFormText.backslash || next == CurlFormText.quote {
                text.append(next)
                place += 2
            } else if byte == CurlFormText.quote {
                index = place + 1
                if skipWord(end) { warnings.append("Trailing data after quoted form parameter") }
                return text
            } else {
                text.append(byte)
                place += 1
            }
        }
        return nil
    }
}
