internal import CarpoolHTTP

/// The form of a stored response's head in the index: a version, the members in order, and the CRC-32C of all that. Of
/// its times only those of the wall clock are kept, since the other clock is that of one run.
enum ResponseCoding {
    private static let version: UInt8 = 1

    static func encode(_ response: CachedResponse) -> [UInt8] {
        var writer = ByteWriter()
        writer.add(version)
        writer.add(UInt16(clamping: response.status))
        writer.add(text: response.httpVersion)
        writer.add(response.requested.wall)
        writer.add(response.received.wall)
        writer.add(UInt8(response.isDecoded ? 1 : 0))
        writer.add(UInt8(response.isInvalidated ? 1 : 0))
        writer.add(UInt8(response.ttlMilliseconds == nil ? 0 : 1))
        writer.add(Int64(response.ttlMilliseconds ?? 0))
        writer.add(Int64(response.bodyBytes))
        add(response.credentials, to: &writer)
        writer.add(UInt32(response.vary.count))
        for field in response.vary {
            writer.add(text: field.name)
            add(field.value, to: &writer)
        }
        writer.add(UInt32(response.fields.count))
        response.fields.forEach { name, value in
            writer.add(bytes: name)
            writer.add(bytes: value)
        }
        writer.add(CRC32C.value(of: writer.bytes))
        return writer.bytes
    }

    private static func add(_ bytes: [UInt8]?, to writer: inout ByteWriter) {
        writer.add(UInt8(bytes == nil ? 0 : 1))
        writer.add(bytes: bytes ?? [])
    }

    /// Reads a head; `nil` unless it is one, to the last byte.
    static func decode(_ bytes: [UInt8]) -> CachedResponse? {
        guard bytes.count > 4 else { return nil }
        var end = ByteReader(Array(bytes.suffix(4)))
        let content = Array(bytes.dropLast(4))
        guard end.number(UInt32.self) == CRC32C.value(of: content) else { return nil }
        return decodeChecked(content)
    }

    /// Reads a head whose checksum is right.
    static func decodeChecked(_ content: [UInt8]) -> CachedResponse? {
        var reader = ByteReader(content)
        guard reader.number(UInt8.self) == version, let status = reader.number(UInt16.self),
            let httpVersion = reader.text(), let requested = reader.number(Int64.self),
            let received = reader.number(Int64.self), let isDecoded = reader.flag(),
            let isInvalidated = reader.flag(), let hasTTL = reader.flag(), let ttl = reader.number(Int64.self),
            let bodyBytes = reader.number(Int64.self), bodyBytes >= 0,
            case .some(let credentials) = optionalBytes(&reader), let vary = vary(&reader),
            let fields = fields(&reader), reader.isAtEnd
        else { return nil }
        var response = CachedResponse(
            status: Int(status), httpVersion: httpVersion, fields: fields,
            requested: CacheTime(wall: requested, uptime: nil), received: CacheTime(wall: received, uptime: nil),
            vary: vary, credentials: credentials, isDecoded: isDecoded, ttlMilliseconds: hasTTL ? Int(ttl) : nil,
            bodyBytes: Int(bodyBytes))
        response.isInvalidated = isInvalidated
        return response
    }

    /// Bytes, or none; the outer `nil` if neither is there.
    private static func optionalBytes(_ reader: inout ByteReader) -> [UInt8]?? {
        guard let isThere = reader.flag(), let bytes = reader.block(), isThere || bytes.isEmpty else { return nil }
        return .some(isThere ? Array(bytes) : nil)
    }

    private static func vary(_ reader: inout ByteReader) -> [CachedResponse.VaryField]? {
        guard let count = reader.number(UInt32.self) else { return nil }
        var fields: [CachedResponse.VaryField] = []
        for _ in 0..<count {
            guard let name = reader.text(), case .some(let value) = optionalBytes(&reader) else { return nil }
            fields.append(CachedResponse.VaryField(name: name, value: value))
        }
        return fields
    }

    private static func fields(_ reader: inout ByteReader) -> FieldBlock? {
        guard let count = reader.number(UInt32.self) else { return nil }
        var fields = FieldBlock()
        for _ in 0..<count {
            guard let name = reader.block(), let value = reader.block(), !name.contains(0x3A) else { return nil }
            let line = name + [0x3A, 0x20] + value
            guard line.withUnsafeBytes({ fields.append(line: $0) }) else { return nil }
        }
        return fields
    }

    /// A number by which two responses under one key are variants: for different requests.
    static func variant(of response: CachedResponse) -> Int64 {
        var writer = ByteWriter()
        writer.add(UInt8(response.isDecoded ? 1 : 0))
        add(response.credentials, to: &writer)
        for field in response.vary.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            writer.add(text: field.name)
            add(field.value, to: &writer)
        }
        return Int64(bitPattern: DiskKey(hashing: writer.bytes).high)
    }
}
