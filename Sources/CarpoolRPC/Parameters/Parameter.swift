public import CarpoolJSON

/// The part of a parameter that does not depend on its type. The parameters are its static members, so that
/// `params[.timeout]` finds them whatever their type is.
///
/// `@unchecked Sendable` because it is immutable; only its subclass ``Parameter`` keeps it from being final.
public class AnyParameter: @unchecked Sendable {
    /// The parameter in a session's configuration, or in a request if sessions do not have it: name, schema, summary,
    /// default.
    public let member: JSONSchema.Member
    /// Whether the default of a request is the session's value.
    let isInherited: Bool

    fileprivate init(_ member: JSONSchema.Member, isInherited: Bool) {
        self.member = member
        self.isInherited = isInherited
    }

    /// The name on the wire.
    public var name: StaticString { member.name }

    /// The parameter in a request.
    var requestMember: JSONSchema.Member {
        guard isInherited else { return member }
        return .optional(member.name, member.schema, member.summary, otherwise: "the session's")
    }
}

/// A parameter of requests or sessions, declared once: the schema that calls are checked against, the pages, the
/// clients' options and the decoders come from it.
public final class Parameter<Value: ParameterValue>: AnyParameter, @unchecked Sendable {
    /// An optional parameter.
    /// - Parameters:
    ///   - standard: the default.
    ///   - words: the default in words, if it is not a fixed value.
    ///   - isInherited: whether the default of a request is its session's value.
    init(
        _ name: StaticString, _ schema: JSONSchema, _ summary: String, default standard: Value.Default? = nil,
        otherwise words: StaticString? = nil, isInherited: Bool = false
    ) {
        super.init(
            .optional(name, schema, summary, default: standard.map(Value.text), otherwise: words),
            isInherited: isInherited)
    }

    /// A required parameter.
    init(required name: StaticString, _ schema: JSONSchema, _ summary: String) {
        super.init(.required(name, schema, summary), isInherited: false)
    }
}

/// An option of the command's request commands that is declared with its parameter, a count or a size in bytes.
///
/// It refers to the parameter by a closure, because the command needs the parameter only if the option is given, and a
/// parameter's schema takes longer to create than all options.
public struct CommandOption: Sendable {
    /// The name with its dashes.
    public let long: String
    /// The placeholder of the value in the help.
    public let placeholder: String
    /// The effect of the option, in the help.
    public let summary: String
    private let parameter: @Sendable () -> Parameter<Int>

    init(
        _ long: String, takes placeholder: String, _ summary: String,
        sets parameter: @escaping @Sendable () -> Parameter<Int>
    ) {
        self.long = long
        self.placeholder = placeholder
        self.summary = summary
        self.parameter = parameter
    }

    /// The name of the parameter on the wire.
    public var parameterName: StaticString { parameter().name }
}

/// A type that the value of a parameter is read as, after it has passed its schema.
public protocol ParameterValue {
    /// The type of a default in a declaration.
    associatedtype Default = Self

    /// Reads the value.
    static func read(_ json: JSON) -> Self?
    /// A default as JSON.
    static func text(_ standard: Default) -> String
}

extension Int: ParameterValue {
    /// Reads an integer.
    @inlinable
    public static func read(_ json: JSON) -> Int? { json.int }
    /// The number.
    public static func text(_ standard: Int) -> String { String(standard) }
}

extension Bool: ParameterValue {
    /// Reads `true` or `false`.
    @inlinable
    public static func read(_ json: JSON) -> Bool? { json.bool }
    /// The word.
    public static func text(_ standard: Bool) -> String { String(standard) }
}

extension String: ParameterValue {
    /// Reads a string.
    @inlinable
    public static func read(_ json: JSON) -> String? { json.string }
    /// The text in quotation marks; must need no escape.
    public static func text(_ standard: String) -> String { "\"\(standard)\"" }
}

extension JSON: ParameterValue {
    /// Any value, for decoders of their own.
    @inlinable
    public static func read(_ json: JSON) -> JSON? { json }
    /// The default, which is written as JSON.
    public static func text(_ standard: String) -> String { standard }
}

/// Values by name that have passed the schemas of their parameters: those of a call, or of a session's configuration.
public protocol ParameterSource {
    /// The value of that name, if the caller gave it.
    subscript(name: StaticString) -> JSON? { get }
}

extension ParameterSource {
    /// The value of a parameter, if the caller gave it.
    @inlinable
    public subscript<Value>(parameter: Parameter<Value>) -> Value? {
        guard let json = self[parameter.name] else { return nil }
        return Value.read(json)
    }
}

extension Params: ParameterSource {}

/// The members of an object that has passed its schema, such as a session's configuration.
public struct ParameterObject: ParameterSource {
    private let object: JSON

    /// The members of an object.
    public init(_ object: JSON) { self.object = object }

    /// The value of that name, if the caller gave it.
    public subscript(name: StaticString) -> JSON? { object[name] }
}
