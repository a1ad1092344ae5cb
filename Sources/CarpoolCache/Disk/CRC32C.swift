/// CRC-32C (Castagnoli) with a table of eight rows: it detects damage, not forgery.
struct CRC32C: Sendable {
    private var state: UInt32 = 0xFFFF_FFFF

    /// The checksum of the bytes so far.
    var value: UInt32 { ~state }

    /// The checksum of some bytes.
    static func value(of bytes: [UInt8]) -> UInt32 { bytes.withUnsafeBytes { value(of: $0) } }

    /// The checksum of some bytes.
    static func value(of bytes: UnsafeRawBufferPointer) -> UInt32 {
        var checksum = CRC32C()
        checksum.update(bytes)
        return checksum.value
    }

    /// Adds bytes.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        state = CRC32C.table.withUnsafeBufferPointer { CRC32C.advance(state, over: bytes, by: $0) }
    }

    private static func advance(
        _ state: UInt32, over bytes: UnsafeRawBufferPointer, by table: UnsafeBufferPointer<UInt32>
    ) -> UInt32 {
        var state = state
        var position = 0
        func entry(_ row: Int, _ index: UInt64) -> UInt32 { table[row &* 256 &+ Int(index & 0xFF)] }
        while position &+ 8 <= bytes.count {
            let word =
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)) ^ UInt64(state)
            let low = entry(7, word) ^ entry(6, word >> 8) ^ entry(5, word >> 16) ^ entry(4, word >> 24)
            let high = entry(3, word >> 32) ^ entry(2, word >> 40) ^ entry(1, word >> 48) ^ entry(0, word >> 56)
            state = low ^ high
            position &+= 8
        }
        while position < bytes.count {
            state = state >> 8 ^ entry(0, UInt64(state ^ UInt32(bytes[position])))
            position &+= 1
        }
        return state
    }

    /// Row `n` has the checksums of each byte followed by `n` zeros.
    private static let table: [UInt32] = {
        var table = [UInt32](repeating: 0, count: 2_048)
        for byte in 0..<256 {
            var value = UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 0 ? value >> 1 : value >> 1 ^ 0x82F6_3B78 }
            table[byte] = value
        }
        for place in 256..<2_048 {
            let before = table[place - 256]
            table[place] = before >> 8 ^ table[Int(before & 0xFF)]
        }
        return table
    }()
}
