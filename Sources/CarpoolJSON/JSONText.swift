/// A JSON value that is only passed on: its text, which is valid and has no blanks outside its strings (RFC 8259).
public struct JSONText: Equatable, Sendable {
    /// The text, in UTF-8.
    public let bytes: [UInt8]

    /// Takes a text as the parser takes it: see ``JSON/parse(_:)-([UInt8])``, also for what it throws. What is plainly right is taken over by a
    /// single look at its bytes; the parser has the last word on all else.
    public init(_ text: [UInt8]) throws(JSONError) {
        if let compact = text.withUnsafeBytes({ JSONCompactor.compact($0) }) {
            bytes = compact
            return
        }
        var writer = JSONWriter()
        writer.value(try JSON.parse(text))
        bytes = writer.bytes
    }
}
