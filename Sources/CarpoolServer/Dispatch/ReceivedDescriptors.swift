internal import CarpoolSystem

/// Descriptors that came with a line (SCM_RIGHTS, unix(7)), until the line has been handled. The caller closes those
/// that no call has claimed, on a thread, because closing them may block.
///
/// The kernel delivers them with the first bytes of the message that they were sent with, and a read never goes beyond
/// those: they belong to the line that contains the last byte of that read.
struct ReceivedDescriptors {
    /// -1 where one was claimed.
    private var raws: [Int32] = []
    /// The minimum position of the end of their line, in bytes since the connection began.
    private var position = 0
    private var isOpen = false

    /// How many came with the line that is handled.
    var count: Int { isOpen ? raws.count : 0 }

    /// Whether the daemon had no number for one that came with the line that is handled.
    var isMissingSome: Bool { isOpen && raws.last == Bytes.missingDescriptor }

    /// How many a line may have.
    static var maximumCount: Int { PassedDescriptors.maximumCount }

    /// Adds the descriptors of a read whose last non-blank byte has this place. Returns those to close: more than a
    /// line may have, and earlier ones.
    mutating func add(_ descriptors: [Int32], upTo position: Int) -> [Int32] {
        guard !descriptors.isEmpty else { return [] }
        let surplus = takeAll() + descriptors.dropFirst(ReceivedDescriptors.maximumCount).filter { $0 >= 0 }
        raws = Array(descriptors.prefix(ReceivedDescriptors.maximumCount))
        self.position = position
        return surplus
    }

    /// Begins to handle the line that ends at this place.
    mutating func begin(lineEndingAt end: Int) { isOpen = !raws.isEmpty && end >= position }

    /// Ends the line. Returns the unclaimed descriptors, which the caller closes.
    mutating func end() -> [Int32] {
        guard isOpen else { return [] }
        isOpen = false
        return takeAll()
    }

    /// Returns one descriptor, once; the caller closes it.
    mutating func claim(_ index: Int) -> Int32? {
        guard isOpen, raws.indices.contains(index), raws[index] >= 0 else { return nil }
        defer { raws[index] = -1 }
        return raws[index]
    }

    /// Returns all unclaimed descriptors.
    mutating func takeAll() -> [Int32] {
        defer { raws = [] }
        return raws.isEmpty ? [] : raws.filter { $0 >= 0 }
    }
}
