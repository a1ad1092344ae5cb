/// An entity tag as it stands in a field (RFC 9110, section 8.8.3): also one without quotation marks, as some origins
/// send it and want it back.
struct EntityTag: Sendable, Equatable {
    /// All of it.
    let bytes: [UInt8]

    /// Makes it of the value of a field; `nil` if that is empty.
    init?(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return nil }
        self.bytes = bytes
    }

    /// Whether it is weak.
    var isWeak: Bool { EntityTag.isWeak(bytes) }

    /// It as a weak one.
    var weakened: [UInt8] { isWeak ? bytes : Array("W/".utf8) + bytes }

    /// Whether both are strong and equal.
    func isStronglyEqual(to other: EntityTag) -> Bool { !isWeak && bytes == other.bytes }

    /// Whether both are equal, weak or not.
    func isWeaklyEqual(to other: EntityTag) -> Bool { opaque == other.opaque }

    private var opaque: ArraySlice<UInt8> { isWeak ? bytes[2...] : bytes[...] }

    /// Whether it is in a list of `If-None-Match`, weak or not, or the list is `*`.
    func isWeaklyIn(_ list: UnsafeRawBufferPointer) -> Bool {
        var isFound = false
        FieldBytes.forEachMember(of: list) { member in
            if member.count == 1, member[0] == UInt8(ascii: "*") {
                isFound = true
            } else {
                let opaqueMember = EntityTag.isWeak(member) ? member[2...] : member[...]
                isFound = opaqueMember.elementsEqual(opaque)
            }
            return !isFound
        }
        return isFound
    }

    private static func isWeak(_ bytes: some RandomAccessCollection<UInt8>) -> Bool {
        let start = bytes.prefix(2)
        return start.elementsEqual("W/".utf8) || start.elementsEqual("w/".utf8)
    }
}
