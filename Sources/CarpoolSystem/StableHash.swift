/// FNV-1a with 64 bits: the same for the same bytes in every process and version, unlike Swift's `Hasher`. It detects
/// accidental differences; it is not collision resistant.
public struct StableHash: Sendable {
    /// The hash of the bytes so far.
    public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// The hash of nothing.
    public init() {}

    /// The hash of some bytes.
    public init(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { combine(UInt64(byte)) }
    }

    /// Adds a byte, or a word as one step.
    public mutating func combine(_ word: UInt64) { value = (value ^ word) &* 0x100_0000_01B3 }
}
