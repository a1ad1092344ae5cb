public import CarpoolJSON

// JSON has no bytes and no dates. An object with the one member `$data`, base64, is bytes; one with the one member
// `$date`, seconds since 1970-01-01T00:00:00Z, is a point in time.
extension StructuredValue {
    /// The deepest value that is read, in levels of arrays and objects: as deep as a message may be.
    public static let maximumDepth = 64

    /// Reads a JSON value. A whole number of 64 bits becomes `integer` or `unsigned`; any other keeps its spelling as
    /// `number`, and so does -0.
    /// - Throws: `JSONError` with the path of the value for a `$data` that is not base64 (RFC 4648, section 4), a
    ///   `$date` that is not a number, for an object with a duplicate name, and for values deeper than
    ///   ``maximumDepth``.
    public init(_ json: JSON, path: String = "") throws(JSONError) {
        do throws(JSONError) {
            try self.init(json, depth: 0)
        } catch {
            throw error.inside(path)
        }
    }

    private init(_ json: JSON, depth: Int) throws(JSONError) {
        guard depth < StructuredValue.maximumDepth else {
            throw .refused("is nested too deep", expected: "at most \(StructuredValue.maximumDepth) levels")
        }
        switch json.kind {
        case .null: self = .null
        case .bool: self = .bool(json.bool ?? false)
        case .integer, .real, .bigNumber: self = StructuredValue.number(json)
        case .string: self = .string(json.string ?? "")
        case .array: self = .array(try StructuredValue.elements(json, depth: depth))
        case .object:
            if let name = json.duplicateName {
                throw .refused("stands twice", path: ".\(name)", expected: "each name once")
            }
            if let marked = try StructuredValue.marked(json) {
                self = marked
            } else {
                self = .object(try StructuredValue.members(json, depth: depth))
            }
        }
    }

    private static func number(_ json: JSON) -> StructuredValue {
        let text = json.numberText ?? "0"
        if let integer = json.integer, integer != 0 || text == "0" { return .integer(integer) }
        guard json.kind == .bigNumber else { return .number(text) }
        return UInt64(text).map { .unsigned($0) } ?? .number(text)
    }

    private static func elements(_ json: JSON, depth: Int) throws(JSONError) -> [StructuredValue] {
        var elements: [StructuredValue] = []
        elements.reserveCapacity(json.count)
        try json.forEachElement { (element: JSON) throws(JSONError) in
            do throws(JSONError) {
                elements.append(try StructuredValue(element, depth: depth + 1))
            } catch {
                throw error.inside("[\(elements.count)]")
            }
        }
        return elements
    }

    private static func members(_ json: JSON, depth: Int) throws(JSONError) -> [Member] {
        var members: [Member] = []
        members.reserveCapacity(json.count)
        try json.forEachMember { (name: String, value: JSON) throws(JSONError) in
            do throws(JSONError) {
                members.append(Member(name, try StructuredValue(value, depth: depth + 1)))
            } catch {
                throw error.inside(".\(String(name.unicodeScalars.prefix(64).map(Character.init)))")
            }
        }
        return members
    }

    /// Bytes or a date, if the object is one of the two.
    private static func marked(_ json: JSON) throws(JSONError) -> StructuredValue? {
        guard json.count == 1 else { return nil }
        if let data = json["$data"] {
            let expected = "a string of base64 with padding (RFC 4648, section 4)"
            do throws(JSONError) {
                guard let bytes = try data.withUTF8({ (text) throws(JSONError) in try Base64.decode(text) }) else {
                    throw JSONError(.base64, "is not a string")
                }
                return .data(bytes)
            } catch {
                throw .refused(error.message, path: ".$data", expected: expected)
            }
        }
        guard let date = json["$date"] else { return nil }
        guard let seconds = date.double else {
            throw .refused("is not a number", path: ".$date", expected: "seconds since 1970-01-01T00:00:00Z")
        }
        return .date(seconds)
    }
}

extension JSONError {
    /// The same error with a path that starts one level further out.
    fileprivate func inside(_ component: String) -> JSONError {
        var error = self
        error.path = component + (path ?? "")
        return error
    }
}

extension JSONWriter {
    /// Writes a value so that it reads back the same: bytes and dates as objects with `$data` and `$date`. A real that
    /// JSON cannot express becomes null, an invalid number a string.
    public mutating func structured(_ value: StructuredValue) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .integer(let value): integer(value)
        case .unsigned(let value): integer(unsigned: value)
        case .real(let value): real(value)
        case .decimal(let text), .number(let text):
            if NumberText.isValid(text) { raw(Array(text.utf8)) } else { string(text) }
        case .string(let value): string(value)
        case .data(let bytes):
            beginObject()
            key("$data")
            bytes.withUnsafeBytes { base64($0) }
            endObject()
        case .date(let seconds):
            beginObject()
            key("$date")
            real(seconds)
            endObject()
        case .array(let elements):
            beginArray()
            for element in elements { structured(element) }
            endArray()
        case .object(let members):
            beginObject()
            for member in members {
                key(member.name)
                structured(member.value)
            }
            endObject()
        }
    }
}
