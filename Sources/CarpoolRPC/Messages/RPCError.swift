public import CarpoolJSON

/// An error of JSON-RPC: `{"code", "message", "data": {"name", "retryable", "hint", ...}}`.
///
/// The one error type of this target. `name` is the identity, `code` is for switch statements, `message` for people.
public struct RPCError: Error, Equatable, Sendable {
    /// A value in `data`.
    public enum Value: Equatable, Sendable {
        /// Text.
        case string(String)
        /// A number.
        case integer(Int)
        /// A list of texts.
        case strings([String])
        /// A list of numbers.
        case integers([Int])
    }

    /// A member of `data`.
    public struct Member: Equatable, Sendable {
        /// Its name.
        public let name: String
        /// Its value.
        public let value: Value
    }

    /// The number.
    public let code: Int
    /// The stable name.
    public let name: String
    /// One line for users.
    public let message: String
    /// Whether the same call may succeed a little later.
    public private(set) var isRetryable: Bool
    /// The remedy.
    public var hint: String?
    /// The other members of `data`, those that the error's kind documents.
    public private(set) var members: [Member] = []

    /// An error of a kind. Its hint is the kind's remedy unless another one is set.
    public init(_ kind: RPCErrorKind, _ message: String) {
        code = kind.code
        name = kind.name.description
        self.message = message
        isRetryable = kind.isRetryable
        hint = kind.remedy
    }

    /// The same error, about a failure that is transient, or not.
    public func retryable(_ isRetryable: Bool) -> RPCError {
        var error = self
        error.isRetryable = isRetryable
        return error
    }

    /// The same error with one more member in `data`; nil adds none.
    public func with(_ name: String, _ value: Value?) -> RPCError {
        guard let value else { return self }
        var error = self
        error.members.append(Member(name: name, value: value))
        return error
    }

    /// The same error with one more text in `data`; nil adds none.
    public func with(_ name: String, _ text: String?) -> RPCError { with(name, text.map(Value.string)) }

    /// The text of a member of `data`.
    public subscript(name: String) -> String? {
        guard case .string(let text)? = members.first(where: { $0.name == name })?.value else { return nil }
        return text
    }

    /// Appends the error object (JSON-RPC 2.0 §5.1).
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("code", code)
        writer.member("message", message)
        writer.key("data")
        writer.beginObject()
        writer.member("name", name)
        writer.member("retryable", isRetryable)
        writer.member("hint", hint)
        for member in members {
            writer.key(member.name)
            switch member.value {
            case .string(let text): writer.string(text)
            case .integer(let number): writer.integer(number)
            case .strings(let texts):
                writer.beginArray()
                for text in texts { writer.string(text) }
                writer.endArray()
            case .integers(let numbers):
                writer.beginArray()
                for number in numbers { writer.integer(number) }
                writer.endArray()
            }
        }
        writer.endObject()
        writer.endObject()
    }
}

extension RPCError: CustomStringConvertible {
    /// One line: name, code, message.
    public var description: String { "\(name) (\(code)): \(message)" }
}
