internal import Glibc

/// Paths as text. For Linux a name is bytes, and not all are UTF-8: a byte of a path that belongs to no character is
/// written as the character U+10FE00 plus the byte, which is in a private use area. These characters of a name itself
/// are written as their four bytes, so that each path has exactly one text.
public enum SystemPath {
    /// The first byte of the UTF-8 of these characters, and of few others.
    private static let lead: UInt8 = 0xF4
    private static let base: UInt32 = 0x10FE00

    /// Runs a call of the system with the bytes of a path.
    public static func withBytes<Result>(_ path: String, _ body: (UnsafePointer<CChar>) -> Result) -> Result {
        // Nearly all paths are their own bytes, and every command has some.
        let result: Result? = path.withCString { strchr($0, Int32(lead)) == nil ? body($0) : nil }
        if let result { return result }
        var bytes = bytes(of: path)
        bytes.append(0)
        return bytes.withUnsafeBytes { buffer in
            // The buffer has at least the NUL.
            buffer.assumingMemoryBound(to: CChar.self).baseAddress.map(body) ?? path.withCString(body)
        }
    }

    /// The bytes of a path.
    public static func bytes(of path: String) -> [UInt8] {
        let text = Array(path.utf8)
        guard text.contains(lead) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            if let byte = byte(at: index, of: text) {
                bytes.append(byte)
                index += 4
            } else {
                bytes.append(text[index])
                index += 1
            }
        }
        return bytes
    }

    /// The text of a path that the system has returned.
    public static func text(_ path: UnsafePointer<CChar>) -> String {
        if strchr(path, Int32(lead)) == nil, let text = String(validatingCString: path) { return text }
        return text(UnsafeBufferPointer(start: path, count: strlen(path)).map { UInt8(bitPattern: $0) })
    }

    /// The text of a path.
    public static func text(_ path: some Collection<UInt8>) -> String {
        if !path.contains(lead), let text = String(validating: path, as: UTF8.self) { return text }
        let bytes = Array(path)
        var text = String.UnicodeScalarView()
        var index = 0
        while index < bytes.count {
            let length = length(at: index, of: bytes)
            if length > 0, byte(at: index, of: bytes) == nil {
                text.append(contentsOf: String(decoding: bytes[index..<index + length], as: UTF8.self).unicodeScalars)
                index += length
            } else {
                if let scalar = Unicode.Scalar(base + UInt32(bytes[index])) { text.append(scalar) }
                index += 1
            }
        }
        return String(text)
    }

    /// Whether a text has bytes that are not UTF-8.
    public static func hasBytes(_ text: String) -> Bool {
        text.utf8.contains(lead) && text.unicodeScalars.contains { byte(of: $0) != nil }
    }

    /// The byte that a character stands for; `nil` for every other character.
    static func byte(of scalar: Unicode.Scalar) -> UInt8? {
        (base + 0x80...base + 0xFF).contains(scalar.value) ? UInt8(scalar.value - base) : nil
    }

    /// The byte that the character at a place stands for.
    private static func byte(at index: Int, of text: [UInt8]) -> UInt8? {
        guard text[index] == lead, index + 3 < text.count, text[index + 1] == 0x8F,
            text[index + 2] == 0xBA || text[index + 2] == 0xBB, text[index + 3] & 0xC0 == 0x80
        else { return nil }
        return (text[index + 2] == 0xBA ? 0x80 : 0xC0) | text[index + 3] & 0x3F
    }

    /// The length of the character that begins at a place; 0 if none does.
    private static func length(at index: Int, of bytes: [UInt8]) -> Int {
        for length in 1...4 where index + length <= bytes.count {
            if String(validating: bytes[index..<index + length], as: UTF8.self) != nil { return length }
        }
        return 0
    }
}
