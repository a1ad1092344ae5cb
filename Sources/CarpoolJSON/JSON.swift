import CJansson

/// A parsed JSON value: a view of one node, which keeps the whole document alive.
///
/// Reading never throws and never traps: a member that is not there, or a value of another kind, is nil. Not
/// `Sendable`: jansson counts references without thread safety.
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
        /// A number that fits neither.
        case bigNumber
        /// `true` or `false`.
        case bool
        /// `null`
        case null
    }

    let document: JSONDocument
    let node: UnsafeMutablePointer<json_t>

    private init(_ document: JSONDocument) { self.init(document, document.root) }

    init(_ document: JSONDocument, _ node: UnsafeMutablePointer<json_t>) {
        self.document = document
        self.node = node
    }

    /// Parses one JSON text (RFC 8259): UTF-8, any value at the top.
    ///
    /// Every number keeps its text. U+0000 is accepted in strings and in names. If an object has a duplicate name, its
    /// last value is used, and ``duplicateName`` returns the name.
    /// - Throws: `JSONError` with line, column and offset; bad UTF-8 has its own code.
    public static func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> JSON {
        let outline = try JSONTokenizer.outline(of: bytes)
        return JSON(try JSONDocument.make(outline.root, of: bytes, outline) { Array(bytes) })
    }

    /// Parses one JSON text; see `parse(_:)` over a raw buffer.
    public static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSON {
        let outline = try bytes.withBytes { (text) throws(JSONError) in try JSONTokenizer.outline(of: text) }
        return try JSON(outline.root, of: bytes, outline)
    }

    /// The value at a place in a text that has been read.
    public init(_ span: JSONSpan, of text: [UInt8], _ outline: JSONOutline) throws(JSONError) {
        self.init(
            try text.withBytes { (bytes) throws(JSONError) in
                try JSONDocument.make(span, of: bytes, outline) { text }
            })
    }

    /// Whether the tree only refers to the value's text; see `JSONSource`.
    @inline(__always)
    var isText: Bool { CJansson_typeof(node) == JSON_REAL }

    /// The value with a tree of its own, if it is an array or object.
    private var container: JSON? {
        switch CJansson_typeof(node) {
        case JSON_OBJECT, JSON_ARRAY: self
        case JSON_REAL: document.part(node).map { JSON($0) }
        default: nil
        }
    }

    /// The text of a number that a tree only refers to.
    func withNumberText<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        guard isText, case .number = JSONSource.place(of: node) else { return nil }
        return document.withText(of: node, body)
    }

    /// Frees the trees of its large values. They are parsed again when they are read.
    public func freeLargeValues() { document.freeParts() }

    /// The kind of the value.
    public var kind: Kind {
        switch CJansson_typeof(node) {
        case JSON_OBJECT: .object
        case JSON_ARRAY: .array
        case JSON_STRING: .string
        case JSON_INTEGER: .integer
        case JSON_REAL: textKind
        case JSON_TRUE, JSON_FALSE: .bool
        default: .null
        }
    }

    private var textKind: Kind {
        switch document.firstByte(of: node) {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "\""): .string
        default: document.withText(of: node, JSONNumber.kind) ?? .bigNumber
        }
    }

    /// The member of that name, if this is an object and has it.
    public subscript(key: StaticString) -> JSON? {
        guard key.hasPointerRepresentation, let object = container else { return nil }
        return key.utf8Start.withMemoryRebound(to: CChar.self, capacity: key.utf8CodeUnitCount) { name in
            json_object_getn(object.node, name, key.utf8CodeUnitCount).map { JSON(object.document, $0) }
        }
    }

    /// The member of that name, if this is an object and has it.
    @_disfavoredOverload
    public subscript(key: String) -> JSON? {
        guard let object = container else { return nil }
        var key = key
        return key.withUTF8 { name in
            let name = UnsafeRawBufferPointer(name)
            if object.document.source?.escapesNames == true {
                return JSONSource.escape(name: name).withUnsafeBytes { JSON.member($0, of: object) }
            }
            return JSON.member(name, of: object)
        }
    }

    private static func member(_ name: UnsafeRawBufferPointer, of object: JSON) -> JSON? {
        name.withMemoryRebound(to: CChar.self) { json_object_getn(object.node, $0.baseAddress, $0.count) }
            .map { JSON(object.document, $0) }
    }

    /// The element at that place, from 0, if this is an array that long.
    public subscript(index index: Int) -> JSON? {
        guard index >= 0, let array = container else { return nil }
        return json_array_get(array.node, index).map { JSON(array.document, $0) }
    }

    /// A duplicate name in the text of this object, or the beginning of the name; `nil` if there is none. Parsers
    /// disagree about which of the values is used.
    public var duplicateName: String? {
        guard let object = container, object.node == object.document.root else { return nil }
        return object.document.duplicateName
    }

    /// The number of members or elements; 0 for other kinds.
    public var count: Int {
        switch CJansson_typeof(node) {
        case JSON_OBJECT: json_object_size(node)
        case JSON_REAL: document.count(of: node)
        default: json_array_size(node)
        }
    }

    /// The string.
    public var string: String? { withUTF8 { String(decoding: $0, as: UTF8.self) } }

    /// Whether the value is this string; makes no copy.
    public func isString(_ text: StaticString) -> Bool { withUTF8(text.matches) ?? false }

    /// The integer, if it fits 64 bits.
    public var integer: Int64? {
        if CJansson_typeof(node) == JSON_INTEGER { return json_integer_value(node) }
        return withNumberText { Int64(String(decoding: $0, as: UTF8.self)) } ?? nil
    }

    /// The integer.
    public var int: Int? { integer.flatMap(Int.init(exactly:)) }

    /// The number, integers included, rounded to the nearest double; nil if it is beyond a double.
    public var double: Double? {
        if CJansson_typeof(node) == JSON_INTEGER { return Double(json_integer_value(node)) }
        return withNumberText(JSONNumber.double) ?? nil
    }

    /// The number as it was written; nil if this is no number.
    public var numberText: String? {
        if let integer = CJansson_typeof(node) == JSON_INTEGER ? json_integer_value(node) : nil {
            return integer.description
        }
        return withNumberText { String(decoding: $0, as: UTF8.self) }
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

    /// The bytes of the string, valid UTF-8; nil if this is no string. They live as long as the call.
    public func withUTF8<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        defer { withExtendedLifetime(document) {} }
        if CJansson_typeof(node) == JSON_STRING {
            return try body(UnsafeRawBufferPointer(start: json_string_value(node), count: json_string_length(node)))
        }
        guard isText, document.firstByte(of: node) == UInt8(ascii: "\"") else { return nil }
        return try document.withText(of: node) { (text) throws(Failure) in
            let content = UnsafeRawBufferPointer(rebasing: text[1..<text.count &- 1])
            guard content.contains(UInt8(ascii: "\\")) else { return try body(content) }
            return try JSONString.decode(content).withBytes { (bytes) throws(Failure) in try body(bytes) }
        }
    }

    /// Calls the body with each member of an object, in the order of the text.
    public func forEachMember<Failure: Error>(_ body: (String, JSON) throws(Failure) -> Void) throws(Failure) {
        try forEachMemberUTF8 { (key, value) throws(Failure) in try body(String(decoding: key, as: UTF8.self), value) }
    }

    /// Calls the body with each member of an object, its name as UTF-8 that lives as long as the call.
    public func forEachMemberUTF8<Failure: Error>(
        _ body: (UnsafeRawBufferPointer, JSON) throws(Failure) -> Void
    ) throws(Failure) {
        guard let object = container else { return }
        guard object.document.source?.escapesNames == true else { return try object.forEachStoredMember(body) }
        try object.forEachStoredMember { (name, value) throws(Failure) in
            try JSONSource.unescape(name: name).withBytes { (name) throws(Failure) in try body(name, value) }
        }
    }

    /// Calls the body with each member of an object that has a tree. The bytes of a name live as long as the tree; one
    /// with U+0000 or U+0001 may be stored in another form.
    package func forEachStoredMember<Failure: Error>(
        _ body: (UnsafeRawBufferPointer, JSON) throws(Failure) -> Void
    ) throws(Failure) {
        guard CJansson_typeof(node) == JSON_OBJECT else { return }
        var iterator = json_object_iter(node)
        while let member = iterator, let value = json_object_iter_value(member) {
            let name = UnsafeRawBufferPointer(
                start: json_object_iter_key(member), count: json_object_iter_key_len(member))
            try body(name, JSON(document, value))
            iterator = json_object_iter_next(node, member)
        }
    }

    /// Calls the body with each element of an array.
    public func forEachElement<Failure: Error>(_ body: (JSON) throws(Failure) -> Void) throws(Failure) {
        guard let array = container else { return }
        for index in 0..<json_array_size(array.node) {
            if let element = json_array_get(array.node, index) { try body(JSON(array.document, element)) }
        }
    }
}

extension JSON: Equatable {
    /// Whether two values are the same: members in any order; numbers by their spelling, so that 1 and 1.0 differ.
    public static func == (left: JSON, right: JSON) -> Bool {
        let kind = left.kind
        guard kind == right.kind, left.count == right.count else { return false }
        switch kind {
        case .null: return true
        case .bool: return left.bool == right.bool
        case .integer, .real, .bigNumber: return left.numberText == right.numberText
        case .string: return left.withUTF8 { text in right.withUTF8 { text.elementsEqual($0) } } == true
        case .array: return (0..<left.count).allSatisfy { left[index: $0] == right[index: $0] }
        case .object:
            var isSame = true
            left.forEachMember { name, value in isSame = isSame && right[name] == value }
            return isSame
        }
    }
}

@available(*, unavailable)
extension JSON: Sendable {}
