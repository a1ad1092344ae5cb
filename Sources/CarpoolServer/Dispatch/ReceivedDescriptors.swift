/// Descriptors that came with a line (SCM_RIGHTS, unix(7)), until that line has been handled. What no call has claimed by then is for the
/// caller to close, on a thread: what a client passes may take as long as it likes to close.
///
/// The kernel gives them with the first bytes of what they were sent with, and a read never goes beyond those: theirs is the line with the last
/// byte of that read.
struct ReceivedDescriptors {
    /// -1 where one was claimed.
    private var raws: [Int32] = []
    /// Where the line of theirs has come to at least, in bytes since the connection began.
    private var position = 0
    private var isOpen = false

    /// How many came with the line that is handled.
    var count: Int { isOpen ? raws.count : 0 }

    /// How many a line may have.
    static let maximumCount = 16

    /// Takes over what came with a read whose last byte that is no blank has this place. Returns what is to be closed: more than a line may
    /// have, and what came before.
    mutating func add(_ descriptors: [Int32], upTo position: Int) -> [Int32] {
        guard !descriptors.isEmpty else { return [] }
        let surplus = takeAll() + descriptors.dropFirst(ReceivedDescriptors.maximumCount)
        raws = Array(descriptors.prefix(ReceivedDescriptors.maximumCount))
        self.position = position
        return surplus
    }

    /// A line is handled that ends at this place; gives whether it has descriptors.
    mutating func begin(lineEndingAt end: Int) { isOpen = !raws.isEmpty && end >= position }

    /// The line has been handled. Returns what is to be closed.
    mutating func end() -> [Int32] {
        guard isOpen else { return [] }
        isOpen = false
        return takeAll()
    }

    /// Hands one over, once; the caller closes it.
    mutating func claim(_ index: Int) -> Int32? {
        guard isOpen, raws.indices.contains(index), raws[index] >= 0 else { return nil }
        defer { raws[index] = -1 }
        return raws[index]
    }

    /// Hands over all that no call has claimed.
    mutating func takeAll() -> [Int32] {
        defer { raws = [] }
        return raws.isEmpty ? [] : raws.filter { $0 >= 0 }
    }
}
