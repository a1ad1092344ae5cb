internal import CarpoolHTTP

/// The field `Content-Range` of a response to a range request (RFC 9110, section 14.4).
struct ContentRange: Equatable {
    /// The first and the last byte that the body holds; `nil` where the range was not satisfiable (status 416).
    let bytes: ClosedRange<Int64>?
    /// The size of the whole; `nil` where the origin does not know it.
    let total: Int64?

    /// Reads that of a response; `nil` if it has none that is valid, or several that differ.
    init?(_ head: ResponseHead) {
        guard let text = head.fields.agreed("content-range") else { return nil }
        self.init(text)
    }

    /// Whether it is all of the resource.
    var isWhole: Bool { bytes.map { $0.lowerBound == 0 && $0.upperBound + 1 == total } ?? false }

    /// Reads `bytes 5-9/10`, `bytes 5-9/*` and `bytes */10`; `nil` for anything else.
    init?(_ text: String) {
        guard text.utf8.count <= ContentRange.maximumBytes else { return nil }
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let sides = parts[1].split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        total = ContentRange.number(sides[1])
        guard total != nil || sides[1] == "*" else { return nil }
        guard sides[0] != "*" else {
            bytes = nil
            return
        }
        let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = ContentRange.number(ends[0]), let last = ContentRange.number(ends[1]),
            first <= last, last < total ?? .max
        else { return nil }
        bytes = first...last
    }

    /// The most bytes of the field: longer ones are not read character by character.
    private static let maximumBytes = 128

    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }
}
