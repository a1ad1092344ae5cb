import CJansson

/// A parsed JSON value: a view of one node, which keeps the whole document alive.
///
/// Reading never throws and never traps: a member that is not there, or a value of another kind, is nil. Not `Sendable`:
/// jansson counts references without thread safety.
public struct JSON {
    /// The kinds of values.
    public enum Kind: String, Sendable {
        /// `{}`
        case object
        /// `[]`
        case array
        /// A string.
        case string
        /// A number without fraction or exponent that fits 64 bits.
        case integer
        /// A number with fraction or exponent that fits a double.
        case real
        /// A number that fits neither; its text is kept and passed on.
        case bigNumber
        /// `true` or `false`.
        case bool
        /// `null`
        case null
    }

    let document: JSONDocument
    let node: UnsafeMutablePointer<json_t>

    private func view(_ node: UnsafeMutablePointer<json_t>?) -> JSON? {
        node.map { JSON(document: document, node: $0) }
    }

    /// Parses one JSON text (RFC 8259): UTF-8, no duplicate names, any value at the top.
    ///
    /// Integers beyond 64 bits and reals beyond a double keep their text (`Kind.bigNumber`); a real too small for a
    /// double is 0. U+0000 is accepted in strings, not in member names.
    /// - Throws: `JSONError` with line, column and offset; duplicate names and bad UTF-8 have their own codes.
    public static func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> JSON {
        let document = try JSONDocument.parse(bytes)
        return JSON(document: document, node: document.root)
    }

    /// Parses one JSON text; see `parse(_:)` over a raw buffer.
    public static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSON {
        try bytes.withUnsafeBufferPointer { (buffer) throws(JSONError) in try parse(UnsafeRawBufferPointer(buffer)) }
    }

    /// Parses the object or array that a text begins with, and tells how many bytes it takes; what follows is not looked at. `nil` if there is
    /// none, or if ``parse(_:)-(UnsafeRawBufferPointer)`` has to say what is wrong with it or to keep a number's text.
    public static func parsePrefix(of bytes: UnsafeRawBufferPointer) -> (value: JSON, byteCount: Int)? {
        JSONDocument.parse(prefixOf: bytes).map { (JSON(document: $0, node: $0.root), $1) }
    }

    /// The kind of the value.
    public var kind: Kind {
        switch CJansson_typeof(node) {
        case JSON_OBJECT: .object
        case JSON_ARRAY: .array
        case JSON_STRING: bigNumberText == nil ? .string : .bigNumber
        case JSON_INTEGER: .integer
        case JSON_REAL: .real
        case JSON_TRUE, JSON_FALSE: .bool
        default: .null
        }
    }

    /// The member of that name, if this is an object and has it.
    public subscript(key: StaticString) -> JSON? {
        guard key.hasPointerRepresentation else { return nil }
        return key.utf8Start.withMemoryRebound(to: CChar.self, capacity: key.utf8CodeUnitCount) {
            view(json_object_getn(node, $0, key.utf8CodeUnitCount))
        }
    }

    /// The member of that name, if this is an object and has it.
    @_disfavoredOverload
    public subscript(key: String) -> JSON? {
        var key = key
        return key.withUTF8 { name in
            name.withMemoryRebound(to: CChar.self) { view(json_object_getn(node, $0.baseAddress, $0.count)) }
        }
    }

    /// The element at that place, from 0, if this is an array that long.
    public subscript(index index: Int) -> JSON? {
        index < 0 ? nil : view(json_array_get(node, index))
    }

    /// How many members or elements; 0 for what is neither object nor array.
    public var count: Int {
        CJansson_typeof(node) == JSON_OBJECT ? json_object_size(node) : json_array_size(node)
    }

    /// The string.
    public var string: String? { withUTF8 { String(decoding: $0, as: UTF8.self) } }

    /// Whether this is that string; makes no copy.
    public func isString(_ text: StaticString) -> Bool { withUTF8(text.matches) ?? false }

    /// The integer, if it fits 64 bits.
    public var integer: Int64? {
        CJansson_typeof(node) == JSON_INTEGER ? json_integer_value(node) : nil
    }

    /// The integer.
    public var int: Int? { integer.flatMap(Int.init(exactly:)) }

    /// The number, integers included, rounded to the nearest double; nil if it is beyond a double.
    public var double: Double? {
        switch CJansson_typeof(node) {
        case JSON_INTEGER: return Double(json_integer_value(node))
        case JSON_REAL: return json_real_value(node)
        default:
            let value = bigNumberText.flatMap { Double(String(decoding: $0, as: UTF8.self)) }
            return value?.isFinite == true ? value : nil
        }
    }

    /// The truth value.
    public var bool: Bool? {
        switch CJansson_typeof(node) {
        case JSON_TRUE: true
        case JSON_FALSE: false
        default: nil
        }
    }

    /// Whether this is `null`.
    public var isNull: Bool { CJansson_typeof(node) == JSON_NULL }

    /// The bytes of the string, valid UTF-8, without a copy; nil if this is no string. They live as long as the call.
    public func withUTF8<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard let content = stringContent, bigNumberText == nil else { return nil }
        defer { withExtendedLifetime(document) {} }
        return try body(content)
    }

    /// Calls the body with each member of an object, in the order of the text.
    public func forEachMember<Failure: Error>(_ body: (String, JSON) throws(Failure) -> Void) throws(Failure) {
        try forEachMemberUTF8 { (key, value) throws(Failure) in try body(String(decoding: key, as: UTF8.self), value) }
    }

    /// Calls the body with each member of an object, its name as UTF-8 that lives as long as the call.
    public func forEachMemberUTF8<Failure: Error>(
        _ body: (UnsafeRawBufferPointer, JSON) throws(Failure) -> Void
    ) throws(Failure) {
        guard CJansson_typeof(node) == JSON_OBJECT else { return }
        var iterator = json_object_iter(node)
        while let member = iterator, let value = view(json_object_iter_value(member)) {
            let name = UnsafeRawBufferPointer(
                start: json_object_iter_key(member), count: json_object_iter_key_len(member))
            try body(name, value)
            iterator = json_object_iter_next(node, member)
        }
    }

    /// Calls the body with each element of an array.
    public func forEachElement<Failure: Error>(_ body: (JSON) throws(Failure) -> Void) throws(Failure) {
        var index = 0
        while let element = self[index: index] {
            try body(element)
            index &+= 1
        }
    }

    /// The bytes that jansson holds for a string, marked numbers included.
    private var stringContent: UnsafeRawBufferPointer? {
        guard CJansson_typeof(node) == JSON_STRING else { return nil }
        return UnsafeRawBufferPointer(start: json_string_value(node), count: json_string_length(node))
    }

    /// The text of a number that jansson cannot hold.
    var bigNumberText: UnsafeRawBufferPointer? {
        document.holdsBigNumbers ? stringContent.flatMap(BigNumbers.text(in:)) : nil
    }
}

extension JSON: Equatable {
    /// Whether two values are the same: members in any order; 1 and 1.0 differ.
    public static func == (left: JSON, right: JSON) -> Bool { json_equal(left.node, right.node) != 0 }
}

@available(*, unavailable)
extension JSON: Sendable {}
