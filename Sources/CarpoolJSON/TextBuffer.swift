/// A growing buffer of bytes with one owner. It is not copied on write, so that none of the many short appends of a
/// reply checks for other owners.
struct TextBuffer: ~Copyable {
    private var base: UnsafeMutablePointer<UInt8>
    private(set) var capacity: Int
    /// The number of bytes.
    var count = 0

    /// Enough for a short reply; larger ones double it.
    private static let initialCapacity = 512

    init() {
        capacity = TextBuffer.initialCapacity
        base = .allocate(capacity: capacity)
    }

    deinit { base.deallocate() }

    borrowing func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// Reserves memory for this many more bytes.
    @inline(__always)
    mutating func reserve(_ more: Int) {
        if capacity &- count < more { grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        let wanted = max(capacity &* 2, count &+ more)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: wanted)
        larger.update(from: base, count: count)
        base.deallocate()
        base = larger
        capacity = wanted
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1)
        appendReserved(byte)
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        reserve(bytes.count)
        (base + count).update(from: source.assumingMemoryBound(to: UInt8.self), count: bytes.count)
        count &+= bytes.count
    }

    mutating func append(_ text: StaticString) {
        reserve(text.utf8CodeUnitCount)
        appendReserved(text)
    }

    // The memory for the following bytes must be reserved already.

    @inline(__always)
    mutating func appendReserved(_ byte: UInt8) {
        base[count] = byte
        count &+= 1
    }

    @inline(__always)
    mutating func appendReserved(_ text: StaticString) {
        text.withUTF8Buffer { utf8 in
            guard let source = utf8.baseAddress else { return }
            (base + count).update(from: source, count: utf8.count)
            count &+= utf8.count
        }
    }

    mutating func appendReserved(capacity: Int, _ body: (UnsafeMutableBufferPointer<UInt8>) -> Int) {
        count &+= min(capacity, body(UnsafeMutableBufferPointer(start: base + count, count: capacity)))
    }
}
