/// The text of a header field's bytes: UTF-8 if they are valid UTF-8, otherwise ISO-8859-1, in which every byte is a
/// character. Browsers do the same with the fields that they show.
public enum FieldText {
    /// Returns the text of these bytes.
    public static func text(of bytes: UnsafeRawBufferPointer) -> String {
        String(validating: bytes, as: UTF8.self) ?? latin1(bytes)
    }

    /// Returns ISO-8859-1 as text: each byte beyond ASCII is two bytes of UTF-8. Written as bytes, because a head may
    /// have 300,000 of them, and appending scalars to a text takes 20 times as long.
    private static func latin1(_ bytes: UnsafeRawBufferPointer) -> String {
        let length = bytes.reduce(bytes.count) { $0 &+ Int($1 >> 7) }
        return String(unsafeUninitializedCapacity: length) { text in
            var count = 0
            for byte in bytes {
                if byte < 0x80 {
                    text[count] = byte
                    count &+= 1
                } else {
                    text[count] = 0xC0 | byte >> 6
                    text[count &+ 1] = 0x80 | byte & 0x3F
                    count &+= 2
                }
            }
            return count
        }
    }
}
