internal import Glibc

/// The members of an object, with the tables that validation uses.
///
/// A class, so that a schema is passed as one reference.
final class ObjectRule: Sendable {
    let members: [JSONSchema.Member]
    let additional: JSONSchema.Additional
    /// Whether an unknown member is an error.
    let forbidsUnknown: Bool
    /// The required names; the first distinguishes object alternatives.
    let required: [StaticString]
    /// Names that belong elsewhere, and where, for the message that refuses them.
    let elsewhere: [StaticString]
    let place: StaticString
    private let names: [StaticString]

    init(
        _ members: [JSONSchema.Member], _ additional: JSONSchema.Additional, elsewhere: [StaticString] = [],
        place: StaticString = ""
    ) {
        self.elsewhere = elsewhere
        self.place = place
        self.members = members
        self.additional = additional
        forbidsUnknown = if case .allowed = additional { false } else { true }
        required = members.filter(\.required).map(\.name)
        names = members.map(\.name)
    }

    /// The index of the member with that name. A schema has at most a few dozen members and most names differ in
    /// length, so comparing with each is cheaper than a hash.
    func index(of name: UnsafeRawBufferPointer) -> Int? { names.firstIndex { $0.matches(name) } }
}

extension StaticString {
    /// Whether the text is these bytes.
    func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard hasPointerRepresentation, bytes.count == utf8CodeUnitCount else { return false }
        guard let start = bytes.baseAddress else { return true }
        return memcmp(start, utf8Start, bytes.count) == 0
    }
}
