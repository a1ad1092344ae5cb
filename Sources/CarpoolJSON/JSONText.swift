/// A JSON value that is only passed on: its text, which is valid and has no blanks outside its strings (RFC 8259).
public struct JSONText: Equatable, Sendable {
    /// The text, in UTF-8.
    public let bytes: [UInt8]

    /// Takes a text as the parser takes it: see ``JSON/parse(_:)-([UInt8])``, also for what it throws. Makes no tree,
    /// and keeps the spelling of numbers and strings.
    public init(_ text: [UInt8]) throws(JSONError) {
        bytes = try text.withBytes { (text) throws(JSONError) in try JSONTokenizer.compacted(text) }
    }

    /// The text of a writer that has written one value.
    public init(_ writer: borrowing JSONWriter) { bytes = writer.bytes }

    /// The text of a value.
    public init(_ value: JSON) {
        var writer = JSONWriter()
        writer.value(value)
        self.init(writer)
    }
}
