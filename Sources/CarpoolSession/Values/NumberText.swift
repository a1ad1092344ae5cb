internal import CarpoolJSON

/// The spelling of a number in JSON (RFC 8259, section 6).
enum NumberText {
    /// Whether a text is a number and nothing else.
    static func isValid(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { JSONNumber.isNumber(UnsafeRawBufferPointer($0)) }
    }
}
