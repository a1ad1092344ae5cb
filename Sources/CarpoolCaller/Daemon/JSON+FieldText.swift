package import CarpoolJSON
internal import CarpoolSystem

extension JSON {
    /// The text of a header field's value, which is a string, or an object with `base64` if its bytes are not UTF-8.
    package var fieldText: String? {
        if let text = string { return text }
        let bytes = self["base64"]?.withUTF8 { (try? Base64.decode($0)) ?? [] }
        return bytes?.withUnsafeBytes { FieldText.text(of: $0) }
    }
}
