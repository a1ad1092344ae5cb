/// Finds the known name that is nearest to an unknown one.
public enum NearestName {
    /// Maximum length of a name that is compared: no known name is longer.
    private static let maxBytes = 64

    /// The candidate with the fewest edits to the name, if they are few enough to be a typing error: one for every
    /// three bytes, or one name is the beginning of the other, or the name has several words of the candidate and no
    /// other. These come after names with one edit, and before those with more.
    public static func find(_ name: String, among candidates: some Sequence<String>) -> String? {
        let name = Array(name.utf8)
        guard !name.isEmpty, name.count <= maxBytes else { return nil }
        var best: (candidate: String, group: Int, edits: Int)?
        for candidate in candidates {
            let bytes = Array(candidate.utf8)
            let begins = min(name.count, bytes.count) >= 3 && (bytes.starts(with: name) || name.starts(with: bytes))
            let isRelated = begins || hasWords(of: name, bytes)
            let edits = distance(name, bytes)
            guard isRelated || edits <= max(1, name.count / 3) else { continue }
            let group = edits <= 1 ? 0 : isRelated ? 1 : 2
            if let best, (best.group, best.edits) <= (group, edits) { continue }
            best = (candidate, group, edits)
        }
        return best?.candidate
    }

    /// Whether a candidate has all words of a name that has several, in their order.
    private static func hasWords(of name: [UInt8], _ candidate: [UInt8]) -> Bool {
        let words = words(name)
        guard words.count > 1 else { return false }
        var found = 0
        for word in self.words(candidate) where found < words.count && word == words[found] { found += 1 }
        return found == words.count
    }

    private static func words(_ name: [UInt8]) -> [ArraySlice<UInt8>] {
        name.split { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".") }
    }

    /// The number of bytes to insert, remove, replace, or swap with their neighbour (optimal string alignment).
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var before: [Int] = []
        var previous = Array(0...right.count)
        for (row, byte) in left.enumerated() {
            var current = [row &+ 1]
            for (column, other) in right.enumerated() {
                let replaced = previous[column] &+ (byte == other ? 0 : 1)
                var edits = min(replaced, previous[column &+ 1] &+ 1, current[column] &+ 1)
                if row > 0, column > 0, byte == right[column &- 1], other == left[row &- 1] {
                    edits = min(edits, before[column &- 1] &+ 1)
                }
                current.append(edits)
            }
            (before, previous) = (previous, current)
        }
        return previous.last ?? left.count
    }
}
