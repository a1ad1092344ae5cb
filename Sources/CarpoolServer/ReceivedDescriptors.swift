internal import CarpoolSystem
internal import Glibc

/// Descriptors that came with a line (SCM_RIGHTS, unix(7)), until that line has been handled. What nobody has claimed by then is closed.
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

    /// Takes over what came with a read whose last byte that is no blank has this place.
    mutating func add(_ descriptors: [Int32], upTo position: Int) {
        guard !descriptors.isEmpty else { return }
        closeAll()
        raws = descriptors
        self.position = position
    }

    /// A line is handled that ends at this place; gives whether it has descriptors.
    mutating func begin(lineEndingAt end: Int) { isOpen = !raws.isEmpty && end >= position }

    /// The line has been handled.
    mutating func end() {
        if isOpen { closeAll() }
        isOpen = false
    }

    /// Gives one away, once.
    mutating func claim(_ index: Int) -> Int32? {
        guard isOpen, raws.indices.contains(index), raws[index] >= 0 else { return nil }
        defer { raws[index] = -1 }
        return raws[index]
    }

    mutating func closeAll() {
        for raw in raws where raw >= 0 { close(raw) }
        raws = []
    }
}
