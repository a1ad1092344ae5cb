/// Writes numbers with the highest byte first, and bytes after their number.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func add<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func add(bytes added: some Collection<UInt8>) {
        add(UInt32(truncatingIfNeeded: added.count))
        bytes.append(contentsOf: added)
    }

    mutating func add(text: String) { add(bytes: text.utf8) }

    mutating func add(optional text: String?) {
        add(UInt8(text == nil ? 0 : 1))
        if let text { add(text: text) }
    }
}

/// Reads what a ``ByteWriter`` has written; `nil` if bytes are missing.
struct ByteReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number? {
        let size = MemoryLayout<Number>.size
        guard bytes.count - position >= size else { return nil }
        defer { position += size }
        return bytes.withUnsafeBytes {
            Number(bigEndian: $0.loadUnaligned(fromByteOffset: position, as: Number.self))
        }
    }

    /// A byte that is 0 or 1.
    mutating func flag() -> Bool? {
        guard let byte = number(UInt8.self), byte <= 1 else { return nil }
        return byte == 1
    }

    mutating func block() -> ArraySlice<UInt8>? {
        guard let count = number(UInt32.self), Int(count) <= bytes.count - position else { return nil }
        defer { position += Int(count) }
        return bytes[position..<(position + Int(count))]
    }

    mutating func text() -> String? { block().flatMap { String(validating: $0, as: UTF8.self) } }
}
