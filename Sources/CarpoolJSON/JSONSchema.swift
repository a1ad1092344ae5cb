/// A schema of JSON values, which validates them and describes them.
///
/// Calls, results and the configuration file are checked against the same schemas that the documentation is written
/// from, so the two cannot differ. Writes itself as JSON Schema draft-07.
///
/// A class, since a value is checked against many small schemas, and reading one must not copy it.
public final class JSONSchema: Sendable {
    /// One member of an object, or one parameter of a method.
    public struct Member: Sendable {
        /// Its name; must need no escape.
        public let name: StaticString
        /// The schema of its value.
        public let schema: JSONSchema
        /// Its purpose, in one or two sentences.
        public let summary: String
        /// Whether it is required.
        public let required: Bool
        /// The default, as JSON; `nil` if there is none, or if it is not a fixed value.
        public let defaultValue: String?
        /// The default in a few words, if it is not a fixed value.
        public let defaultWords: StaticString?

        /// Describes a member.
        public init(
            _ name: StaticString, _ schema: JSONSchema, _ summary: String, required: Bool = false,
            default defaultValue: String? = nil, otherwise defaultWords: StaticString? = nil
        ) {
            self.name = name
            self.schema = schema
            self.summary = summary
            self.required = required
            self.defaultValue = defaultValue
            self.defaultWords = defaultWords
        }

        /// A required member.
        public static func required(_ name: StaticString, _ schema: JSONSchema, _ summary: String) -> Member {
            Member(name, schema, summary, required: true)
        }

        /// An optional member.
        public static func optional(
            _ name: StaticString, _ schema: JSONSchema, _ summary: String, default defaultValue: String? = nil,
            otherwise defaultWords: StaticString? = nil
        ) -> Member {
            Member(name, schema, summary, default: defaultValue, otherwise: defaultWords)
        }
    }

    /// Whether an object may have other members than those declared.
    public enum Additional: Sendable {
        /// No others: an unknown member is an error that names it.
        case forbidden
        /// Any others.
        case allowed
        /// No others now, but a later version may add some: checked as `forbidden`, described as `allowed`.
        case later
    }

    /// The kinds of rules.
    enum Rule: Sendable {
        case any
        case null
        case boolean
        case constant(Bool)
        case integer(ClosedRange<Int64>)
        case number
        case string(maxBytes: Int?)
        case choice([StaticString], refused: [StaticString] = [], because: StaticString = "")
        case array(of: JSONSchema, count: ClosedRange<Int>)
        case object(ObjectRule)
        case map(of: JSONSchema, maxCount: Int)
        case oneOf([JSONSchema])
        case named(StaticString, JSONSchema)
    }

    let rule: Rule
    /// A sentence for the description, besides the rule.
    let summary: String?

    private init(_ rule: Rule, summary: String? = nil) {
        self.rule = rule
        self.summary = summary
    }

    /// Any value.
    public static let any = JSONSchema(.any)
    /// Only `null`.
    public static let null = JSONSchema(.null)
    /// `true` or `false`.
    public static let boolean = JSONSchema(.boolean)
    /// Any number, one beyond a double too.
    public static let number = JSONSchema(.number)
    /// Any string.
    public static let string = JSONSchema(.string(maxBytes: nil))
    /// Any integer of 64 bits.
    public static let integer = JSONSchema(.integer(.min ... .max))

    /// A string of at most that many bytes of UTF-8.
    public static func string(maxBytes: Int) -> JSONSchema { JSONSchema(.string(maxBytes: maxBytes)) }

    /// An integer within bounds.
    public static func integer(_ range: ClosedRange<Int64>) -> JSONSchema { JSONSchema(.integer(range)) }

    /// One of a few strings.
    public static func choice(_ values: StaticString...) -> JSONSchema { JSONSchema(.choice(values)) }

    /// One of a few strings.
    public static func choice(_ values: [StaticString]) -> JSONSchema { JSONSchema(.choice(values)) }

    /// One of a few strings. Others that a caller may expect are refused with a reason.
    public static func choice(
        _ values: [StaticString], refused: [StaticString], because reason: StaticString
    ) -> JSONSchema {
        JSONSchema(.choice(values, refused: refused, because: reason))
    }

    /// Only `true`, or only `false`.
    public static func constant(_ value: Bool) -> JSONSchema { JSONSchema(.constant(value)) }

    /// An array, of bounded length.
    public static func array(of element: JSONSchema, count: ClosedRange<Int> = 0...Int.max) -> JSONSchema {
        JSONSchema(.array(of: element, count: count))
    }

    /// An object with these members.
    public static func object(_ members: [Member], additional: Additional = .forbidden) -> JSONSchema {
        JSONSchema(.object(ObjectRule(members, additional)))
    }

    /// An object with these members. Others that a caller may expect are refused with a reason.
    public static func object(
        _ members: [Member], elsewhere: [StaticString], because place: StaticString
    ) -> JSONSchema {
        JSONSchema(.object(ObjectRule(members, .forbidden, elsewhere: elsewhere, place: place)))
    }

    /// An object with names of the caller's choice and values of one schema.
    public static func map(of value: JSONSchema, maxCount: Int = Int.max) -> JSONSchema {
        JSONSchema(.map(of: value, maxCount: maxCount))
    }

    /// One of several; object alternatives are distinguished by their first required member.
    public static func oneOf(_ alternatives: JSONSchema...) -> JSONSchema { JSONSchema(.oneOf(alternatives)) }

    /// A schema that the description refers to by name, `#/components/schemas/NAME`.
    public static func named(_ name: StaticString, _ schema: JSONSchema) -> JSONSchema {
        JSONSchema(.named(name, schema))
    }

    /// This or `null`.
    public var nullable: JSONSchema { JSONSchema(.oneOf([self, .null])) }

    /// The same schema with a sentence for its description.
    public func described(_ summary: String) -> JSONSchema { JSONSchema(rule, summary: summary) }
}
