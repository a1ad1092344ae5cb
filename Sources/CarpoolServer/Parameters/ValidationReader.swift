internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// Makes validators of the member `validate`, which has passed its schema.
struct ValidationReader {
    let callbacks: any CallbackFactory

    /// Returns the validators in order; none for `false` or an empty list.
    func validators(_ json: JSON, path: String) throws(RPCError) -> [any ResponseValidator] {
        if let isAutomatic = json.bool {
            return isAutomatic ? [StatusValidator.successful, AcceptHeaderValidator()] : []
        }
        var validators: [any ResponseValidator] = []
        for index in 0..<json.count {
            guard let element = json[index: index] else { continue }
            validators.append(try validator(element, path: "\(path)[\(index)]"))
        }
        return validators
    }

    private func validator(_ json: JSON, path: String) throws(RPCError) -> any ResponseValidator {
        if let callback = json["callback"] { return try callbacks.validator(callback, path: "\(path).callback") }
        if let types = json["content_type"] {
            return ContentTypeValidator((0..<types.count).compactMap { types[index: $0]?.string })
        }
        var ranges: [ClosedRange<Int>] = []
        for index in 0..<(json["status"]?.count ?? 0) {
            guard let element = json["status"]?[index: index] else { continue }
            ranges.append(try Self.statuses(element, path: "\(path).status[\(index)]"))
        }
        return StatusValidator(ranges)
    }

    /// One code, or the range that a text like `200-299` names.
    private static func statuses(_ json: JSON, path: String) throws(RPCError) -> ClosedRange<Int> {
        if let code = json.int { return code...code }
        let text = json.string ?? ""
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(code)
        if parts.count == 2, let first = parts[0], let last = parts[1], first <= last { return first...last }
        throw .invalidParams(
            path: path, message: "not a range of statuses: \(text.debugDescription)",
            expected: "a code, 100 to 999, or a range like \"200-299\"")
    }

    /// Three digits and nothing else: `Int` would take a sign too.
    private static func code(_ text: Substring) -> Int? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard text.utf8.count == 3, text.utf8.allSatisfy(digits.contains), let code = Int(text), code >= 100 else {
            return nil
        }
        return code
    }
}
