public import CarpoolJSON

/// The description of a method. The dispatcher checks calls against it; `rpc.discover` and the pages are written from
/// it.
public struct Method: Sendable {
    /// The role that a method requires; each role includes those before it.
    public enum Role: String, CaseIterable, Sendable, Comparable {
        /// May read events and statistics.
        case observe
        /// May also make requests, and manage its own.
        case submit
        /// May call every method.
        case admin

        /// Whether the right one may do more.
        public static func < (left: Role, right: Role) -> Bool { left.rank < right.rank }

        private var rank: Int {
            switch self {
            case .observe: 0
            case .submit: 1
            case .admin: 2
            }
        }
    }

    /// A call and its answer.
    public struct Example: Sendable {
        /// The purpose of the example, in a few words.
        public let title: String
        /// The parameters, as JSON. `${origin}` stands for an HTTP server with a page `/hello`, and `${request}`,
        /// `${session}`, `${client}`, `${sub}`, `${stream}` and `${streamed}` for names that earlier calls returned.
        public let params: String
        /// A possible result, as JSON. A test compares its members and their types with those of a real result.
        public let result: String

        /// A call and its result.
        public init(_ title: String, params: String = "{}", result: String) {
            self.title = title
            self.params = params
            self.result = result
        }
    }

    /// `noun.verb`
    public let name: String
    /// Other names for it.
    public var aliases: [String] = []
    /// The effect of the method, in one sentence.
    public let summary: String
    /// The details: behaviour, limits and side effects.
    public let description: String
    /// The role that a caller needs.
    public let role: Role
    /// The parameters, in the order of an array: required ones come first, as OpenRPC demands.
    public let params: [JSONSchema.Member]
    /// The schema of the result.
    public let result: JSONSchema
    /// The errors that only some methods have; those of the protocol can come from any method.
    public let errors: [RPCErrorKind]
    /// At least one.
    public let examples: [Example]
    /// Whether the method may wait, so that `rpc.cancel` is useful.
    public var isInterruptible = false

    /// Describes a method.
    public init(
        _ name: String, aliases: [String] = [], role: Role, _ summary: String, _ description: String,
        params: [JSONSchema.Member] = [], result: JSONSchema, errors: [RPCErrorKind] = [],
        isInterruptible: Bool = false,
        examples: [Example]
    ) {
        self.name = name
        self.aliases = aliases
        self.summary = summary
        self.description = description
        self.role = role
        self.params = params.filter(\.required) + params.filter { !$0.required }
        self.result = result
        self.errors = errors
        self.examples = examples
        self.isInterruptible = isInterruptible
    }
}
