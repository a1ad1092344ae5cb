/// Truncates peer-controlled texts, by bytes: one character of Unicode may be as long as a message.
enum TruncatedText {
    /// The text, or as many whole scalars of its beginning as have so many bytes, and three dots.
    static func of(_ text: String, bytes: Int) -> String {
        guard text.utf8.count > bytes else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: bytes)
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return "\(text[..<end])..."
    }
}
