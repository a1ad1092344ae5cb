/// A set of short texts, ordered by their first byte, so that a place that begins none of them costs one look.
struct BytePatterns: Sendable {
    private let byFirst: [[[UInt8]]]

    /// Makes a set of texts that are not empty.
    init(_ texts: [String]) {
        var lists = [[[UInt8]]](repeating: [], count: 256)
        for text in texts {
            let bytes = Array(text.utf8)
            if let first = bytes.first { lists[Int(first)].append(bytes) }
        }
        byFirst = lists
    }

    /// Whether one of the texts stands anywhere in the bytes.
    func haveOne(in bytes: [UInt8]) -> Bool {
        for start in bytes.indices {
            for text in byFirst[Int(bytes[start])] where BytePatterns.stands(text, at: start, in: bytes) { return true }
        }
        return false
    }

    /// Whether the bytes end with one of the texts.
    func haveOne(atEndOf bytes: [UInt8]) -> Bool {
        for start in bytes.indices {
            for text in byFirst[Int(bytes[start])]
            where text.count == bytes.count - start && BytePatterns.stands(text, at: start, in: bytes) { return true }
        }
        return false
    }

    /// Whether the bytes are one of the texts.
    func haveOne(equalTo bytes: [UInt8]) -> Bool {
        guard let first = bytes.first else { return false }
        return byFirst[Int(first)].contains { $0 == bytes }
    }

    private static func stands(_ text: [UInt8], at start: Int, in bytes: [UInt8]) -> Bool {
        guard text.count <= bytes.count - start else { return false }
        for offset in text.indices where text[offset] != bytes[start + offset] { return false }
        return true
    }
}
