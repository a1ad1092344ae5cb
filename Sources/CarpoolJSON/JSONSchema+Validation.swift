import CJansson

extension JSONSchema {
    /// Checks a value.
    /// - Parameter path: the path of the value in errors, like `params`.
    /// - Throws: `JSONError` with code `schema`, the path of the first invalid value, what was expected and, for an
    ///   unknown name, the nearest known one.
    public func validate(_ json: JSON, path: String) throws(JSONError) {
        defer { withExtendedLifetime(json) {} }
        try check(Node(json), at: path)
    }

    /// A node without a reference to its document: validation makes none, so that it costs no reference counting.
    struct Node {
        let pointer: UnsafeMutablePointer<json_t>
        private let document: Unmanaged<JSONDocument>

        init(_ json: JSON) { self.init(json.node, .passUnretained(json.document)) }

        private init(_ pointer: UnsafeMutablePointer<json_t>, _ document: Unmanaged<JSONDocument>) {
            self.pointer = pointer
            self.document = document
        }

        /// The view of the same value, for rare operations.
        var json: JSON { JSON(document.takeUnretainedValue(), pointer) }

        /// The value's type in jansson's terms. For a value that stays text, it is the type that its tree would have.
        var type: json_type {
            let type = CJansson_typeof(pointer)
            guard type == JSON_REAL else { return type }
            return switch json.kind {
            case .object: JSON_OBJECT
            case .array: JSON_ARRAY
            case .string: JSON_STRING
            case .integer: JSON_INTEGER
            default: JSON_REAL
            }
        }

        /// A duplicate name in the text of the object, which is ``expanded``.
        var duplicateName: String? {
            document._withUnsafeGuaranteedRef { $0.root == pointer ? $0.duplicateName : nil }
        }

        /// The number of members or elements.
        var count: Int { json.count }

        /// The value with a tree of its own.
        var expanded: Node {
            guard CJansson_typeof(pointer) == JSON_REAL else { return self }
            // The document keeps its parts.
            guard let part = document.takeUnretainedValue().part(pointer) else { return self }
            return Node(part.root, .passUnretained(part))
        }

        var integer: Int64? {
            CJansson_typeof(pointer) == JSON_INTEGER ? json_integer_value(pointer) : json.integer
        }

        /// Its name in messages.
        var kindName: String {
            switch json.kind {
            case .object: "an object"
            case .array: "an array"
            case .string: "a string"
            case .integer: "the integer \(JSONSchema.shortened(json.numberText ?? ""))"
            case .real, .bigNumber: "the number \(JSONSchema.shortened(json.numberText ?? ""))"
            case .bool: json.bool == true ? "true" : "false"
            case .null: "null"
            }
        }

        func forEachMember(
            _ body: (UnsafeRawBufferPointer, Node) throws(JSONError) -> Void
        ) throws(JSONError) {
            let isEscaped = document.takeUnretainedValue().source?.escapesNames == true
            var iterator = json_object_iter(pointer)
            while let member = iterator, let value = json_object_iter_value(member) {
                let name = UnsafeRawBufferPointer(
                    start: json_object_iter_key(member), count: json_object_iter_key_len(member))
                let node = Node(value, document)
                if isEscaped {
                    let name = JSONSource.unescape(name: name)
                    try name.withBytes { (name) throws(JSONError) in try body(name, node) }
                } else {
                    try body(name, node)
                }
                iterator = json_object_iter_next(pointer, member)
            }
        }

        func element(_ index: Int) -> Node? { json_array_get(pointer, index).map { Node($0, document) } }

        func hasMember(_ name: StaticString) -> Bool {
            name.utf8Start.withMemoryRebound(to: CChar.self, capacity: name.utf8CodeUnitCount) {
                json_object_getn(pointer, $0, name.utf8CodeUnitCount) != nil
            }
        }
    }

    /// Adds the component to the path of an error. The path is built only if there is an error.
    private func check(_ node: Node, at component: @autoclosure () -> String) throws(JSONError) {
        do { try check(node) } catch { throw error.inside(component()) }
    }

    private func check(_ node: Node) throws(JSONError) {
        switch rule {
        case .any: return
        case .named(_, let schema): try schema.check(node)
        case .array(let element, let count): try check(array: node, of: element, count: count)
        case .object(let object): try check(object: node, object)
        case .map(let value, let maxCount): try check(map: node, of: value, maxCount: maxCount)
        case .oneOf(let alternatives): try check(node, against: alternatives)
        case .string(let maxBytes?): try check(string: node, maxBytes: maxBytes)
        case .choice(let values, let refused, let reason):
            try check(choice: node, among: values, refused, reason)
        case .integer(let range):
            guard let integer = node.integer, range.contains(integer) else { throw wrong(node) }
        case .null, .boolean, .constant, .number, .string(nil):
            guard accepts(node) else { throw wrong(node) }
        }
    }

    /// Whether the value is of the kind that the rule requires, and, if it is an object, has the first required member.
    private func accepts(_ node: Node) -> Bool {
        let type = node.type
        switch rule {
        case .any: return true
        case .null: return type == JSON_NULL
        case .boolean: return type == JSON_TRUE || type == JSON_FALSE
        case .constant(let value): return type == (value ? JSON_TRUE : JSON_FALSE)
        case .integer: return type == JSON_INTEGER
        case .number: return type == JSON_INTEGER || type == JSON_REAL
        case .string, .choice: return type == JSON_STRING
        case .array: return type == JSON_ARRAY
        case .map: return type == JSON_OBJECT
        case .object(let object):
            return type == JSON_OBJECT && object.required.first.map(node.expanded.hasMember) ?? true
        case .oneOf(let alternatives): return alternatives.contains { $0.accepts(node) }
        case .named(_, let schema): return schema.accepts(node)
        }
    }

    private func wrong(_ node: Node) -> JSONError {
        // A number in place of a text may be a password without its quotation marks.
        let isNumber = node.type == JSON_INTEGER || node.type == JSON_REAL
        let found = isNumber && acceptsText ? "a number" : node.kindName
        return .refused("expected \(expectation), found \(found)", expected: expectation)
    }

    private var acceptsText: Bool {
        switch rule {
        case .string: true
        case .oneOf(let alternatives): alternatives.contains { $0.acceptsText }
        case .named(_, let schema): schema.acceptsText
        default: false
        }
    }

    private func check(string node: Node, maxBytes: Int) throws(JSONError) {
        guard let count = node.json.withUTF8({ $0.count }) else { throw wrong(node) }
        guard count <= maxBytes else {
            throw .refused("expected \(expectation), found \(count) bytes", expected: expectation)
        }
    }

    private func check(
        choice node: Node, among values: [StaticString], _ refused: [StaticString], _ reason: StaticString
    ) throws(JSONError) {
        let json = node.json
        guard let isKnown = json.withUTF8({ text in values.contains { $0.matches(text) } }) else { throw wrong(node) }
        guard !isKnown else { return }
        let name = json.withUTF8(Self.shortened) ?? ""
        guard !refused.contains(where: { $0.description == name }) else {
            throw .refused("\(name) is not supported: \(reason)", expected: expectation)
        }
        throw .refused(
            "expected \(expectation), found \"\(name)\"", expected: expectation,
            didYouMean: NearestName.find(name, among: values.map(\.description)))
    }

    private func check(array node: Node, of element: JSONSchema, count: ClosedRange<Int>) throws(JSONError) {
        guard accepts(node) else { throw wrong(node) }
        let found = node.count
        guard count.contains(found) else {
            throw .refused("expected \(expectation), found \(found)", expected: expectation)
        }
        let node = node.expanded
        for index in 0..<found {
            guard let value = node.element(index) else { continue }
            try element.check(value, at: "[\(index)]")
        }
    }

    private func check(map node: Node, of value: JSONSchema, maxCount: Int) throws(JSONError) {
        guard accepts(node) else { throw wrong(node) }
        let found = node.count
        guard found <= maxCount else {
            throw .refused("expected \(expectation), found \(found)", expected: expectation)
        }
        let node = node.expanded
        if let name = node.duplicateName { throw Self.duplicate(name) }
        try node.forEachMember { (name, member) throws(JSONError) in
            try value.check(member, at: ".\(Self.shortened(name))")
        }
    }

    private func check(object node: Node, _ object: ObjectRule) throws(JSONError) {
        guard node.type == JSON_OBJECT else { throw wrong(node) }
        if object.forbidsUnknown, node.count > Self.maximumMembers {
            throw .refused("has \(node.count) members", expected: "at most \(Self.maximumMembers) members")
        }
        let node = node.expanded
        if let name = node.duplicateName { throw Self.duplicate(name) }
        try node.forEachMember { (name, value) throws(JSONError) in
            if let index = object.index(of: name) {
                try object.members[index].schema.check(value, at: ".\(object.members[index].name)")
            } else if object.forbidsUnknown {
                throw Self.unknown(name, of: object)
            }
        }
        guard let missing = object.required.first(where: { !node.hasMember($0) }) else { return }
        let expected = object.members.first { $0.name.description == missing.description }?.schema.expectation
        throw .refused("is missing", expected: expected ?? "").inside(".\(missing)")
    }

    /// Tries only alternatives that accept the kind of the value, so that a valid value causes no error.
    private func check(_ node: Node, against alternatives: [JSONSchema]) throws(JSONError) {
        var failures: [JSONError] = []
        for alternative in alternatives where alternative.accepts(node) {
            do { return try alternative.check(node) } catch { failures.append(error) }
        }
        throw exclusion(of: alternatives.filter { $0.accepts(node) }, failures) ?? failures.last
            ?? noAlternative(for: node)
    }
}

extension JSONSchema {
    private func noAlternative(for node: Node) -> JSONError {
        let names = requiredNames
        guard node.type == JSON_OBJECT, !names.isEmpty else { return wrong(node) }
        let expected = "one of \(names.joined(separator: ", "))"
        let known = memberNames
        let node = node.expanded
        var iterator = json_object_iter(node.pointer)
        while let member = iterator {
            let key = UnsafeRawBufferPointer(
                start: json_object_iter_key(member), count: json_object_iter_key_len(member))
            let name = Self.shortened(key)
            guard known.contains(name) else {
                return .refused("is not known", expected: expected, didYouMean: NearestName.find(name, among: known))
                    .inside(".\(name)")
            }
            iterator = json_object_iter_next(node.pointer, member)
        }
        return .refused("has none of the members that identify its kind", expected: expected)
    }

    /// The names of all members that an object among the alternatives may have.
    private var memberNames: [String] {
        switch rule {
        case .object(let object): object.members.map(\.name.description)
        case .oneOf(let alternatives): alternatives.flatMap(\.memberNames)
        case .named(_, let schema): schema.memberNames
        default: []
        }
    }

    /// The error for an object that two alternatives accept, if each refuses the member that identifies the other.
    private func exclusion(of alternatives: [JSONSchema], _ failures: [JSONError]) -> JSONError? {
        guard alternatives.count == 2, failures.count == 2, let first = alternatives[0].requiredNames.first,
            let second = alternatives[1].requiredNames.first, failures[0].path == ".\(second)",
            failures[1].path == ".\(first)"
        else { return nil }
        return .refused("has both \(first) and \(second), which exclude each other", expected: "one of them")
    }

    /// The names that distinguish the object alternatives.
    private var requiredNames: [String] {
        switch rule {
        case .object(let object): object.required.prefix(1).map(\.description)
        case .oneOf(let alternatives): alternatives.flatMap(\.requiredNames)
        case .named(_, let schema): schema.requiredNames
        default: []
        }
    }

    /// The error for a duplicate name. Parsers disagree about which of the two values is used.
    private static func duplicate(_ name: String) -> JSONError {
        .refused("stands twice", expected: "each name once").inside(".\(name)")
    }

    private static func unknown(_ name: UnsafeRawBufferPointer, of object: ObjectRule) -> JSONError {
        let known = object.members.map(\.name.description)
        let belongsElsewhere = object.elsewhere.contains { $0.matches(name) }
        let name = shortened(name)
        let expected = known.isEmpty ? "no members" : "one of \(known.joined(separator: ", "))"
        guard !belongsElsewhere else {
            return .refused("is not known here: \(object.place)", expected: expected).inside(".\(name)")
        }
        return .refused("is not known", expected: expected, didYouMean: NearestName.find(name, among: known))
            .inside(".\(name)")
    }

    /// Maximum number of members of an object whose members are declared; one with more is refused before it is parsed.
    private static let maximumMembers = 1_000

    private static func shortened(_ text: String) -> String {
        var text = text
        return text.withUTF8 { shortened(UnsafeRawBufferPointer($0)) }
    }

    /// The beginning of a received name, which may be as long as the message that contained it.
    private static func shortened(_ name: UnsafeRawBufferPointer) -> String {
        let shown = 64
        guard name.count > shown else { return String(decoding: name, as: UTF8.self) }
        return String(decoding: name.prefix(shown), as: UTF8.self) + "..."
    }
}
