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

    /// The checksum of the first bytes of a file; `nil` if it has fewer. May block.
    static func of(first count: Int64, bytesOf descriptor: Int32) throws(SystemError) -> UInt32? {
        var checksum: UInt32 = 0
        var position: Int64 = 0
        while position < count {
            let wanted = Int(min(pieceBytes, count - position))
            let bytes = try FilePiece.read(descriptor, at: position, count: wanted)
            guard bytes.count == wanted else { return nil }
            checksum = bytes.withUnsafeBytes { adding($0, to: checksum) }
            position &+= Int64(wanted)
        }
        return checksum
    }
}
