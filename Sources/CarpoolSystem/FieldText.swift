/// The text of a header field's bytes: UTF-8 if they are valid UTF-8, otherwise ISO-8859-1, in which every byte is a
/// character. Browsers do the same with the fields that they show.
public enum FieldText {
    /// Returns the text of these bytes.
    public static func text(of bytes: UnsafeRawBufferPointer) -> String {
        String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) }))
    }
}
