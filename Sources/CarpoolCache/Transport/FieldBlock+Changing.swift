internal import CarpoolHTTP

extension FieldBlock {
    /// Replaces fields by name, and removes others.
    mutating func change(setting fields: [HTTPField], removing names: [String]) {
        guard !fields.isEmpty || !names.isEmpty else { return }
        let gone = (names + fields.map(\.name)).map { Array($0.lowercased().utf8) }
        self = filtered { name in !gone.contains { FieldBlock.isEqual(name, $0) } }
        for field in fields { append(name: field.name, value: field.value) }
    }

    private static func isEqual(_ name: UnsafeRawBufferPointer, _ lowered: [UInt8]) -> Bool {
        name.count == lowered.count
            && zip(name, lowered).allSatisfy { byte, other in
                (byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte) == other
            }
    }
}
