internal import CarpoolJSON
internal import CarpoolSystem

/// The variables of `--variable`, which `--expand-OPTION` puts into texts.
struct CurlVariables {
    private var values: [String: [UInt8]] = [:]

    /// curl's maximum of a name.
    private static let maximumNameBytes = 128

    /// Takes the text of `--variable`: `name=text`, `name@file`, `%NAME` of the environment, with a range `[2-5]`.
    mutating func set(
        _ text: String, _ consumed: inout [CurlConsumedInput], _ environment: Environment,
        _ warnings: inout [String]
    ) throws(CurlError) {
        var rest = Array(text.utf8)[...]
        let isImport = rest.first == UInt8(ascii: "%")
        if isImport { rest = rest.dropFirst() }
        let name = rest.prefix { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }.text
        rest = rest.dropFirst(name.utf8.count)
        guard !name.isEmpty, name.utf8.count < CurlVariables.maximumNameBytes else {
            warnings.append("Bad variable name length (\(name.utf8.count)), skipping")
            return
        }
        let range = try CurlVariables.range(&rest)
        // A value of the environment is taken as a whole.
        if isImport, let value = environment[name] {
            values[name] = Array(value.utf8)
            return
        }
        let value: [UInt8]
        switch rest.first {
        case UInt8(ascii: "="): value = Array(rest.dropFirst())
        case UInt8(ascii: "@"):
            value = try CurlOptionFile.bytes(rest.dropFirst().text, &consumed, saysReason: true)
        case nil where isImport: throw CurlVariables.failure("Variable '\(name)' import fail, not set")
        default:
            warnings.append("Bad --variable syntax, skipping: \(text)")
            return
        }
        values[name] = range.map { Array(value.dropFirst($0.start).prefix($0.count)) } ?? value
    }

    private static func failure(_ reason: String) -> CurlError {
        var error = CurlValueError.expansion
        error.reasons = [reason]
        return error
    }

    /// Takes a range of bytes from the text, such as `[2-5]` or `[2-]`.
    private static func range(_ rest: inout ArraySlice<UInt8>) throws(CurlError) -> (start: Int, count: Int)? {
        guard rest.first == UInt8(ascii: "["), let digit = rest.dropFirst().first, digit.isDigit else { return nil }
        rest = rest.dropFirst()
        guard let start = number(&rest), rest.popFirst() == UInt8(ascii: "-") else {
            throw CurlValueError.variableSyntax
        }
        let last = rest.first == UInt8(ascii: "]") ? .max : number(&rest)
        guard let last, rest.popFirst() == UInt8(ascii: "]"), last >= start else { throw CurlValueError.variableSyntax }
        return (start, last - start == .max ? .max : last - start + 1)
    }

    private static func number(_ rest: inout ArraySlice<UInt8>) -> Int? {
        let digits = rest.prefix(while: \.isDigit)
        rest = rest.dropFirst(digits.count)
        return Int(digits.text)
    }

    /// Replaces `{{name}}` and `{{name:function}}`; a backslash before the braces protects them.
    func expand(_ text: String, _ warnings: inout [String]) throws(CurlError) -> String {
        var rest = Array(text.utf8)[...]
        var result: [UInt8] = []
        var hasValue = false
        while let start = CurlVariables.index(of: "{{", in: rest) {
            if start > rest.startIndex, rest[start - 1] == UInt8(ascii: "\\") {
                result += rest[..<(start - 1)] + rest[start..<(start + 2)]
                rest = rest[(start + 2)...]
                continue
            }
            result += rest[..<start]
            guard let end = CurlVariables.index(of: "}}", in: rest[start...]) else {
                warnings.append("missing close '}}' in '\(text)'")
                rest = rest[start...]
                break
            }
            let inner = rest[(start + 2)..<end]
            rest = rest[(end + 2)...]
            let value = try value(of: inner, &warnings)
            hasValue = hasValue || value != nil
            result += value ?? Array("{{".utf8) + inner + Array("}}".utf8)
        }
        // Like curl, a text without a variable stays as it is, with its backslashes.
        return hasValue ? (result + rest).text : text
    }

    private static func index(of text: StaticString, in bytes: ArraySlice<UInt8>) -> Int? {
        let pair = text.withUTF8Buffer { Array($0) }
        return bytes.indices.first { $0 + 1 < bytes.endIndex && bytes[$0] == pair[0] && bytes[$0 + 1] == pair[1] }
    }

    /// The value of a name with functions; `nil` for what is no name.
    private func value(of inner: ArraySlice<UInt8>, _ warnings: inout [String]) throws(CurlError) -> [UInt8]? {
        let parts = inner.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        let name = parts[0].text
        guard !name.isEmpty, name.utf8.allSatisfy({ $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }) else {
            warnings.append("bad variable name: \(name)")
            return nil
        }
        var value = values[name] ?? []
        for function in parts.dropFirst() { value = try CurlVariables.apply(function.text, value) }
        if value.contains(0) {
            throw CurlVariables.failure("variable contains null byte")
        }
        return value
    }

    private static func apply(_ function: String, _ value: [UInt8]) throws(CurlError) -> [UInt8] {
        switch function {
        case "trim":
            let start = value.firstIndex { !$0.isSpace } ?? value.endIndex
            let end = value.lastIndex { !$0.isSpace }.map { $0 + 1 } ?? start
            return Array(value[start..<end])
        case "url": return CurlPercent.encode(value)
        case "json":
            var writer = JSONWriter()
            value.withUnsafeBytes { writer.text($0) }
            return Array(writer.bytes.dropFirst().dropLast())
        case "b64":
            var text: [UInt8] = []
            value.withUnsafeBytes { Base64.encode($0, into: &text) }
            return text
        case "64dec":
            return (try? value.withUnsafeBytes { (bytes) throws(JSONError) in try Base64.decode(bytes) })
                ?? Array("[64dec-fail]".utf8)
        default: throw CurlVariables.failure("unknown variable function in ':\(function)'")
        }
    }
}
