/// The body of a stored response.
public enum CacheBody: Sendable {
    /// All of its bytes.
    case memory([UInt8])
    /// A file of the disk store, which is read on demand.
    case file(StoredBodyFile)

    /// The number of bytes.
    public var count: Int {
        switch self {
        case .memory(let bytes): bytes.count
        case .file(let file): file.length
        }
    }
}

/// A body in a file of its own in the folder of the disk store. Its row in the index says what the file must contain.
public struct StoredBodyFile: Sendable, Equatable {
    /// The number of the entry, by which the file is named.
    public let id: Int64
    /// The number of bytes.
    public let length: Int
    /// The CRC-32C of the bytes.
    public let checksum: UInt32

    /// Names a file.
    public init(id: Int64, length: Int, checksum: UInt32) {
        self.id = id
        self.length = length
        self.checksum = checksum
    }

    /// The folder of an entry's file in the folder of bodies: the lowest 8 bits of its number, two hexadecimal digits.
    static func folderName(of id: Int64) -> String { hexadecimal(UInt64(bitPattern: id) & 0xFF, digits: 2) }

    /// The name of an entry's file: its number, sixteen hexadecimal digits.
    static func name(of id: Int64) -> String { hexadecimal(UInt64(bitPattern: id), digits: 16) }

    private static func hexadecimal(_ value: UInt64, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: digits - text.utf8.count) + text
    }
}
