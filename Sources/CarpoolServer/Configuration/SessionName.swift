/// The rule for names of sessions, created and declared ones.
enum SessionName {
    /// The rule in words.
    static let rule = "1 to 64 letters, digits, dots, dashes and underscores"

    /// Whether a text is a name.
    static func isOne(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
                default: false
                }
            }
    }
}
