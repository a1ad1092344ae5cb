/// Names of fields are compared without regard to case (RFC 9110, section 5.1), and without making a `String` of
/// either.
enum FieldName {
    static func matches(_ bytes: UnsafeRawBufferPointer, _ name: StaticString) -> Bool {
        guard bytes.count == name.utf8CodeUnitCount else { return false }
        for i in 0..<bytes.count where bytes[i] != name.utf8Start[i] {
            guard lowered(bytes[i]) == lowered(name.utf8Start[i]) else { return false }
        }
        return true
    }

    static func matches(_ text: String, _ name: StaticString) -> Bool {
        guard text.utf8.count == name.utf8CodeUnitCount else { return false }
        var text = text
        return text.withUTF8 { matches(UnsafeRawBufferPointer($0), name) }
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }
}
