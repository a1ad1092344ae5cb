/// The bytes of a body that was received so far, of which the first may be dropped when every reader has them.
struct CollectedBody {
    private(set) var bytes: [UInt8] = []
    /// The position of the first byte that is kept.
    private(set) var base = 0

    /// Bytes that are dropped at a time, so that few are moved often.
    private static let step = 262_144

    /// The position after the last byte.
    var end: Int { base &+ bytes.count }
    /// The number of bytes that are kept.
    var count: Int { bytes.count }
    /// Whether no byte was dropped.
    var isWhole: Bool { base == 0 }

    mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    mutating func append(_ piece: UnsafeRawBufferPointer) { bytes.append(contentsOf: piece) }

    /// Drops what lies before a position, in steps.
    mutating func drop(before position: Int) {
        let surplus = position &- base
        guard surplus >= CollectedBody.step || surplus == bytes.count else { return }
        bytes.removeFirst(surplus)
        base = position
    }

    /// Drops everything.
    mutating func clear() {
        base = end
        bytes = []
    }

    /// Passes at most `limit` bytes from a position on to the body; `nil` if there are none.
    func read<Result>(
        from position: Int, atMost limit: Int, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result? {
        let start = position &- base
        guard start >= 0, start < bytes.count else { return nil }
        return bytes.withUnsafeBytes { all in
            body(UnsafeRawBufferPointer(rebasing: all[start..<min(start &+ limit, all.count)]))
        }
    }
}
