internal import CarpoolHTTP

/// The fields of a response that are stored (HC-04, HC-05).
struct StoredFields {
    private let removed: Set<[UInt8]>

    /// Finds what is not stored.
    init(of head: ResponseHead, _ fields: ResponseFields, isShared: Bool) {
        var removed = FieldBytes.names(in: head.fields.allBytes("connection"))
        if isShared { removed.formUnion(fields.control.privateFields) }
        self.removed = removed
    }

    /// Whether a field belongs to the connection, or may not be stored.
    func isRemoved(_ name: UnsafeRawBufferPointer) -> Bool {
        if StoredFields.belongsToConnection(name) { return true }
        return !removed.isEmpty && removed.contains(name.map(FieldBytes.lowered))
    }

    private static func belongsToConnection(_ name: UnsafeRawBufferPointer) -> Bool {
        switch name.count {
        case 2: FieldBytes.matches(name, "te")
        case 7: FieldBytes.matches(name, "upgrade")
        case 10: FieldBytes.matches(name, "connection") || FieldBytes.matches(name, "keep-alive")
        case 16: FieldBytes.matches(name, "proxy-connection")
        case 17: FieldBytes.matches(name, "transfer-encoding")
        case 18: FieldBytes.matches(name, "proxy-authenticate")
        case 19: FieldBytes.matches(name, "proxy-authorization")
        case 25: FieldBytes.matches(name, "proxy-authentication-info")
        default: false
        }
    }

    /// Whether a 304 does not change a field (HV-02): what the body is stays.
    private static func describesBody(_ name: UnsafeRawBufferPointer) -> Bool {
        switch name.count {
        case 13: FieldBytes.matches(name, "content-range")
        case 14: FieldBytes.matches(name, "content-length")
        case 16: FieldBytes.matches(name, "content-encoding")
        default: false
        }
    }

    /// The stored form of fields.
    /// - Parameter received: when they arrived, for a response without a valid `Date`.
    func stored(_ fields: FieldBlock, hasDate: Bool, received: CacheTime) -> FieldBlock {
        var stored = fields.filtered { name in
            !isRemoved(name) && (hasDate || !FieldBytes.matches(name, "date"))
        }
        if !hasDate { stored.append(name: "Date", value: HTTPDate.text(Freshness.seconds(received.wall))) }
        return stored
    }

    /// Stored fields with those of a response that brings new ones. Its age and date replace the old ones also if they
    /// are not there, as they are those of the validation.
    func updated(_ old: FieldBlock, by new: FieldBlock, hasDate: Bool, received: CacheTime) -> FieldBlock {
        let changing = new.filtered { !isRemoved($0) && !StoredFields.describesBody($0) }
        let added = stored(changing, hasDate: hasDate, received: received)
        var replaced: Set<[UInt8]> = [Array("age".utf8)]
        added.forEach { name, _ in replaced.insert(name.map(FieldBytes.lowered)) }
        var result = old.filtered { !replaced.contains($0.map(FieldBytes.lowered)) }
        added.forEach { name, value in result.append(name: name, value: value) }
        return result
    }
}
