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
        var value = isImport ? environment[name].map { Array($0.utf8) } : nil
        let range = try CurlVariables.range(&rest)
        if value == nil {
            switch rest.first {
            case UInt8(ascii: "="): value = Array(rest.dropFirst())
            case UInt8(ascii: "@"):
                value = try CurlOptionFile.bytes(rest.dropFirst().text, &consumed)
            case nil where isImport:
                var error = CurlValueError.expansion
                error.reasons = ["Variable '\(name)' import fail, not set"]
                throw error
            default:
                warnings.append("Bad --variable syntax, skipping: \(text)")
                return
            }
        }
        guard var value else { return }
        if let range { value = Array(value.dropFirst(range.start).prefix(range.count)) }
        values[name] = value
    }

    /// Takes a range of bytes from the text.
    private static func range(_ rest: inout ArraySlice<UInt8>) throws(CurlError) -> (start: Int, count: Int)? {
        guard rest.first == UInt8(ascii: "["), let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return nil }
        let parts = rest[(rest.startIndex + 1)..<end].split(
            separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let start = Int(parts[0].text) else { return nil }
        rest = rest[(end + 1)...]
        guard !parts[1].isEmpty else { return (start, .max) }
        guard let last = Int(parts[1].text) else { return nil }
        guard last >= start else { throw CurlValueError.variableSyntax }
        return (start, (last - start).addingReportingOverflow(1).overflow ? .max : last - start + 1)
    }

    /// Replaces `{{name}}` and `{{name:function}}`; a backslash before the braces protects them.
    func expand(_ text: String, _ warnings: inout [String]) throws(CurlError) -> String {
        var rest = Array(text.utf8)[...]
        var result: [UInt8] = []
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
            result += try value(of: inner, &warnings) ?? Array("{{".utf8) + inner + Array("}}".utf8)
        }
        return (result + rest).text
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
            var error = CurlValueError.expansion
            error.reasons = ["variable contains null byte"]
            throw error
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
        default:
            var error = CurlValueError.expansion
            error.reasons = ["unknown variable function in ':\(function)'"]
            throw error
        }
    }
}
