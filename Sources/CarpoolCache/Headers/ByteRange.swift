/// The range that a request asks for (RFC 9110, section 14.1.2).
enum ByteRange: Sendable, Equatable {
    /// From a byte to another one, both included; to the end without the other one.
    case from(Int64, to: Int64?)
    /// So many bytes at the end.
    case last(Int64)

    /// Reads one range of bytes; `nil` for several, for other units, and for what is none.
    init?(_ value: UnsafeRawBufferPointer) {
        guard let equals = value.firstIndex(of: UInt8(ascii: "=")),
            FieldBytes.matches(UnsafeRawBufferPointer(rebasing: value[..<equals]), "bytes")
        else { return nil }
        let range = FieldBytes.trimmed(UnsafeRawBufferPointer(rebasing: value[(equals + 1)...]))
        guard let hyphen = range.firstIndex(of: UInt8(ascii: "-")) else { return nil }
        let before = UnsafeRawBufferPointer(rebasing: range[..<hyphen])
        let after = UnsafeRawBufferPointer(rebasing: range[(hyphen + 1)...])
        let first = DeltaSeconds.number(before, maximum: ByteRange.maximum)
        let second = DeltaSeconds.number(after, maximum: ByteRange.maximum)
        switch (first, second) {
        case (let first?, let last?) where first <= last: self = .from(first, to: last)
        case (let first?, nil) where after.isEmpty: self = .from(first, to: nil)
        case (nil, let count?) where before.isEmpty: self = .last(count)
        default: return nil
        }
    }

    private static let maximum: Int64 = 1 << 53

    /// The bytes of a body of so many; `nil` if there are none.
    func bytes(of count: Int) -> Range<Int>? {
        switch self {
        case .from(let first, let last):
            guard first < count else { return nil }
            let end = last.map { min(Int64(count), $0 + 1) } ?? Int64(count)
            return Int(first)..<Int(end)
        case .last(let length):
            guard length > 0, count > 0 else { return nil }
            return (count - Int(min(length, Int64(count))))..<count
        }
    }
}
