/// The text of a JSON value that is forwarded unchanged: valid, and without blanks outside its strings (RFC 8259).
public struct JSONText: Equatable, Sendable {
    /// The text, in UTF-8.
    public let bytes: [UInt8]

    /// Checks a text. Accepts the same texts and throws the same errors as ``JSON/parse(_:)-([UInt8])``, but creates no
    /// tree, and preserves the spelling of numbers and strings.
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
