extension JSONSchema {
    /// The rule in words.
    public var expectation: String {
        switch rule {
        case .any: "any value"
        case .null: "null"
        case .boolean: "true or false"
        case .constant(let value): value ? "true" : "false"
        case .integer(.min ... .max): "an integer"
        case .integer(let range) where range.upperBound == .max: "an integer of at least \(range.lowerBound)"
        case .integer(let range): "an integer from \(range.lowerBound) to \(range.upperBound)"
        case .number: "a number"
        case .string(nil): "a string"
        case .string(let maxBytes?): "a string of at most \(maxBytes) bytes"
        case .choice(let values, _, _) where values.count == 1: "\"\(values[0])\""
        case .choice(let values, _, _): "one of \(values.map { "\"\($0)\"" }.joined(separator: ", "))"
        case .array(_, 0...Int.max): "an array"
        case .array(_, let count) where count.lowerBound == count.upperBound:
            "an array of \(count.lowerBound) elements"
        case .array(_, let count) where count.upperBound == .max: "an array of at least \(count.lowerBound) elements"
        case .array(_, let count): "an array of \(count.lowerBound) to \(count.upperBound) elements"
        case .object(let object) where object.required.isEmpty: "an object"
        case .object(let object): "an object with \(object.required.map { "\"\($0)\"" }.joined(separator: " and "))"
        case .map(_, .max): "an object"
        case .map(_, let maxCount): "an object of at most \(maxCount) members"
        case .oneOf(let alternatives): alternatives.map(\.expectation).joined(separator: ", or ")
        case .named(_, let schema): schema.expectation
        }
    }

    /// Appends this schema as JSON Schema draft-07.
    ///
    /// Named schemas are written as references; `collectNamed(into:)` finds what they refer to.
    public func write(to writer: inout JSONWriter) { write(to: &writer, member: nil) }

    /// Writes the schema of a member's value, with the member's summary and default.
    fileprivate func write(to writer: inout JSONWriter, member: Member?) {
        writer.beginObject()
        writer.member("description", member?.summary ?? summary)
        writeRule(to: &writer)
        if let value = member?.defaultValue {
            writer.key("default")
            writer.raw(Array(value.utf8))
        }
        if let words = member?.defaultWords { writer.member("x-default", static: words) }
        writer.endObject()
    }

    private func writeRule(to writer: inout JSONWriter) {
        switch rule {
        case .any: return
        case .null: writer.member("type", "null")
        case .boolean: writer.member("type", "boolean")
        case .constant(let value): writer.member("const", value)
        case .number: writer.member("type", "number")
        case .integer(let range):
            writer.member("type", "integer")
            if range.lowerBound != .min { writer.member("minimum", range.lowerBound) }
            if range.upperBound != .max { writer.member("maximum", range.upperBound) }
        case .string(let maxBytes):
            writer.member("type", "string")
            // Draft-07 counts characters, of which there are never more than bytes.
            writer.member("maxLength", maxBytes)
            writer.member("x-max-bytes", maxBytes)
        case .choice(let values, _, _):
            writer.member("type", "string")
            writer.member("enum", values.map(\.description))
        case .array(let element, let count): write(arrayOf: element, count: count, to: &writer)
        case .object(let object): write(object, to: &writer)
        case .map(let value, let maxCount):
            writer.member("type", "object")
            writer.key("additionalProperties")
            value.write(to: &writer)
            if maxCount != .max { writer.member("maxProperties", maxCount) }
        case .oneOf(let alternatives):
            writer.key("oneOf")
            writer.beginArray()
            for alternative in alternatives { alternative.write(to: &writer) }
            writer.endArray()
        case .named(let name, _): writer.member("$ref", "#/components/schemas/\(name)")
        }
    }

    private func write(arrayOf element: JSONSchema, count: ClosedRange<Int>, to writer: inout JSONWriter) {
        writer.member("type", "array")
        writer.key("items")
        element.write(to: &writer)
        if count.lowerBound > 0 { writer.member("minItems", count.lowerBound) }
        if count.upperBound < .max { writer.member("maxItems", count.upperBound) }
    }

    private func write(_ object: ObjectRule, to writer: inout JSONWriter) {
        writer.member("type", "object")
        writer.key("properties")
        writer.beginObject()
        for member in object.members {
            writer.key(member.name)
            member.schema.write(to: &writer, member: member)
        }
        writer.endObject()
        if !object.required.isEmpty { writer.member("required", object.required.map(\.description)) }
        if case .forbidden = object.additional { writer.member("additionalProperties", false) }
    }

    /// The named schemas inside this one, by name, each once, the inner ones too.
    public func collectNamed(into found: inout [String: JSONSchema]) {
        switch rule {
        case .named(let name, let schema):
            guard found.updateValue(schema, forKey: name.description) == nil else { return }
            schema.collectNamed(into: &found)
        case .array(let element, _): element.collectNamed(into: &found)
        case .map(let value, _): value.collectNamed(into: &found)
        case .object(let object): for member in object.members { member.schema.collectNamed(into: &found) }
        case .oneOf(let alternatives): for alternative in alternatives { alternative.collectNamed(into: &found) }
        default: return
        }
    }
}

extension JSONSchema.Member {
    /// Appends the schema of the value with this member's summary and default.
    public func writeSchema(to writer: inout JSONWriter) {
        schema.write(to: &writer, member: self)
    }
}
