/// An error in a JSON text or a base64 string, or of a value that a schema refuses.
///
/// The one error type of this target. `code` is the identity; `message` is for people.
public struct JSONError: Error, Equatable, Sendable {
    /// The reason of an error. Later versions may add some.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The stable name of the reason.
        public let rawValue: String

        /// Makes a code from its stable name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The text is not JSON (RFC 8259).
        public static let syntax = Code(rawValue: "syntax")
        /// The text ends inside a value.
        public static let incomplete = Code(rawValue: "incomplete")
        /// The text is not UTF-8.
        public static let invalidUTF8 = Code(rawValue: "invalid_utf8")
        /// Nested deeper than the parser's limit of 2,048 levels. The limit for messages is far lower.
        public static let tooDeep = Code(rawValue: "too_deep")
        /// There was not enough memory for the value.
        public static let outOfMemory = Code(rawValue: "out_of_memory")
        /// A string that should be base64 (RFC 4648 §4) is not.
        public static let base64 = Code(rawValue: "base64")
        /// A value that the schema does not allow.
        public static let schema = Code(rawValue: "schema")
    }

    /// The reason.
    public let code: Code
    /// One sentence for people, with the value that was found.
    public let message: String
    /// For errors in a text: the line, from 1.
    public var line: Int?
    /// For errors in a text: the column, in bytes from 1.
    public var column: Int?
    /// For errors in a text: the number of bytes that were read when the error was found.
    public var offset: Int?
    /// For values that a schema refuses: where, like `params.body.file`.
    public var path: String?
    /// For values that a schema refuses: the values that are accepted.
    public var expected: String?
    /// For an unknown name: the nearest known one, if one is near.
    public var didYouMean: String?

    /// An error without a position.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The error for a value that a schema refuses.
    public static func refused(
        _ message: String, path: String = "", expected: String, didYouMean: String? = nil
    ) -> JSONError {
        var error = JSONError(.schema, message)
        error.path = path
        error.expected = expected
        error.didYouMean = didYouMean
        return error
    }

    /// The same error, with a component put before its path.
    func inside(_ component: String) -> JSONError {
        var error = self
        error.path = component + (path ?? "")
        return error
    }
}

extension JSONError: CustomStringConvertible {
    /// One line: the position, the message, and the nearest known name.
    public var description: String {
        var text = ""
        if let path { text += "\(path): " }
        if let line, let column { text += "line \(line), column \(column): " }
        text += message
        if let didYouMean { text += "; did you mean \(didYouMean)?" }
        return text
    }
}
