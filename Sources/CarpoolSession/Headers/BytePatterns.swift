internal import Glibc

/// A set of short texts, indexed by their first byte, so that a position where none begins costs one lookup.
struct BytePatterns: Sendable {
    /// The texts one after another, each after a byte with its length.
    private let texts: [UInt8]
    /// The index in `texts` of the first text with a given first byte; the next element is the end.
    private let places: [Int]

    /// Makes a set of texts of 1 to 255 bytes.
    init(_ texts: [String]) {
        let all = texts.map { Array($0.utf8) }
        var (listed, places): ([UInt8], [Int]) = ([], [0])
        for first in UInt8.min...UInt8.max {
            for text in all where text.first == first { listed += [UInt8(text.count)] + text }
            places.append(listed.count)
        }
        self.texts = listed
        self.places = places
    }

    /// Whether the bytes contain one of the texts.
    func matches(in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        bytes.indices.contains { hasMatch(in: bytes, at: $0) { length, rest in length <= rest } }
    }

    /// Whether the bytes end with one of the texts.
    func matches(atEndOf bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        bytes.indices.contains { hasMatch(in: bytes, at: $0) { length, rest in length == rest } }
    }

    /// Whether the bytes are one of the texts.
    func matches(equalTo bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        !bytes.isEmpty && hasMatch(in: bytes, at: 0) { length, rest in length == rest }
    }

    /// Whether one of the texts is at a position; `fits` compares its length with the number of bytes from there on.
    private func hasMatch(
        in bytes: UnsafeBufferPointer<UInt8>, at start: Int, where fits: (_ length: Int, _ rest: Int) -> Bool
    ) -> Bool {
        let first = Int(bytes[start])
        var place = places[first]
        let end = places[first + 1]
        guard place < end, let base = bytes.baseAddress else { return false }
        return texts.withUnsafeBufferPointer { texts in
            guard let listed = texts.baseAddress else { return false }
            while place < end {
                let length = Int(texts[place])
                if fits(length, bytes.count - start), memcmp(listed + place + 1, base + start, length) == 0 {
                    return true
                }
                place += 1 + length
            }
            return false
        }
    }
}
