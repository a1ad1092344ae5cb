internal import CarpoolJSON

/// The members of a message that JSON-RPC 2.0 defines, as positions in its text. No tree of JSON values is created.
struct Envelope {
    private struct Members {
        var version: JSONSpan?
        var id: JSONSpan?
        var method: JSONSpan?
        var params: JSONSpan?
        var result: JSONSpan?
        var error: JSONSpan?

        /// Stores the position of a known member; other members are ignored.
        mutating func take(_ part: JSONOutline.Part, _ bytes: UnsafeRawBufferPointer) {
            if part.isNamed("jsonrpc", in: bytes) {
                version = part.value
            } else if part.isNamed("id", in: bytes) {
                id = part.value
            } else if part.isNamed("method", in: bytes) {
                method = part.value
            } else if part.isNamed("params", in: bytes) {
                params = part.value
            } else if part.isNamed("result", in: bytes) {
                result = part.value
            } else if part.isNamed("error", in: bytes) {
                error = part.value
            }
        }
    }

    let text: [UInt8]
    let outline: JSONOutline
    private let members: Members

    var version: JSONSpan? { members.version }
    var id: JSONSpan? { members.id }
    var method: JSONSpan? { members.method }
    var params: JSONSpan? { members.params }
    var result: JSONSpan? { members.result }
    var error: JSONSpan? { members.error }

    /// The members of an object.
    init(_ text: [UInt8], _ outline: JSONOutline) {
        self.text = text
        self.outline = outline
        members = text.withUnsafeBytes { bytes in
            var members = Members()
            for index in 0..<min(outline.partCount, JSONOutline.maximumParts) {
                if let part = outline.part(index) { members.take(part, bytes) }
            }
            return members
        }
    }

    /// A member name that occurs twice; `nil` if there is none.
    var duplicateName: String? { outline.duplicateName.map { span in withText(span) { JSONString.name(of: $0) } } }

    /// Whether it has more than one id.
    var hasSeveralIDs: Bool {
        text.withUnsafeBytes { bytes in
            (0..<outline.partCount).count { outline.part($0)?.isNamed("id", in: bytes) == true } > 1
        }
    }

    /// Calls the body with a value's text.
    func withText<Result>(_ span: JSONSpan, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        text.withUnsafeBytes { body(span.bytes(of: $0)) }
    }

    /// The first byte of a value, which identifies its kind.
    func firstByte(_ span: JSONSpan) -> UInt8 { withText(span) { $0.first ?? 0 } }

    func isNull(_ span: JSONSpan) -> Bool { firstByte(span) == UInt8(ascii: "n") }

    /// Whether a value is that string, however it is spelled.
    func isString(_ span: JSONSpan, _ other: StaticString) -> Bool {
        let isSame = withText(span) { text in
            text.count == other.utf8CodeUnitCount &+ 2
                && UnsafeRawBufferPointer(rebasing: text[1..<text.count &- 1])
                    .elementsEqual(UnsafeRawBufferPointer(start: other.utf8Start, count: other.utf8CodeUnitCount))
        }
        return isSame || string(span) == other.description
    }

    /// The tree of a value.
    func json(_ span: JSONSpan) throws(RPCError) -> JSON {
        do throws(JSONError) {
            return try JSON(span, of: text, outline)
        } catch {
            throw .internalError(error.message)
        }
    }

    /// The content of a string, if the value is one.
    func string(_ span: JSONSpan) -> String? {
        withText(span) { JSONString.text(of: $0) }
    }
}
