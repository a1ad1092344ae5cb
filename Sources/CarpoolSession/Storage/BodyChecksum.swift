internal import CZlib
internal import CarpoolSystem

/// CRC-32 of the bytes of a file (RFC 1952, section 8): it detects other bytes, not forgery.
enum BodyChecksum {
    /// The checksum of bytes whose beginning has this one; that of no bytes is 0.
    static func adding(_ bytes: UnsafeRawBufferPointer, to checksum: UInt32) -> UInt32 {
        let start = bytes.bindMemory(to: UInt8.self).baseAddress
        return UInt32(truncatingIfNeeded: crc32_z(UInt(checksum), start, bytes.count))
    }

    /// The bytes that are read at a time.
    private static let pieceBytes: Int64 = 1_048_576

    /// The checksum of the first bytes of a file, which are read a part at a time.
    struct Reading {
        /// How many bytes were read.
        private(set) var count: Int64 = 0
        /// Their checksum.
        private(set) var checksum: UInt32 = 0

        /// Reads the bytes before a position; returns whether the file has so many. May block.
        mutating func goOn(to end: Int64, of descriptor: Int32) throws(SystemError) -> Bool {
            while count < end {
                let wanted = Int(min(pieceBytes, end - count))
                let bytes = try FilePiece.read(descriptor, at: count, count: wanted)
                guard bytes.count == wanted else { return false }
                checksum = bytes.withUnsafeBytes { adding($0, to: checksum) }
                count &+= Int64(wanted)
            }
            return true
        }
    }
}
