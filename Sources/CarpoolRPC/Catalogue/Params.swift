public import CarpoolJSON
internal import Glibc

/// The checked parameters of a call, by name, whether the caller passed an object or an array.
///
/// An object, because a call hands it to many readers.
public final class Params {
    private enum Form {
        case none
        case object(JSON)
        case positional(JSON, [JSONSchema.Member])
    }

    /// A member of the parsed object, which keeps the name's bytes. A handler reads many names, of which few are
    /// present: comparing with those costs less than a look-up for each.
    private struct Found {
        let name: UnsafeRawBufferPointer
        let value: JSON

        func isNamed(_ other: StaticString) -> Bool {
            guard name.count == other.utf8CodeUnitCount, let bytes = name.baseAddress else { return false }
            return memcmp(bytes, other.utf8Start, name.count) == 0
        }
    }

    private let form: Form
    private let found: [Found]
    /// The lengths of the names in `found`, a bit for each: most names that a handler reads are absent, and for most of
    /// them the length alone shows that.
    private let lengths: UInt64

    private init(_ form: Form, _ found: [Found] = []) {
        self.form = form
        self.found = found
        lengths = found.reduce(0) { $0 | Params.bit(forLength: $1.name.count) }
    }

    private static func bit(forLength count: Int) -> UInt64 { 1 << UInt64(min(count, 63)) }

    /// No parameters.
    public static var none: Params { Params(.none) }

    /// Checks parameters against a method's description.
    ///
    /// Absent, `[]` and `{}` mean none. An array is taken in the documented order.
    /// - Throws: `RPCError.invalidParams` with path, expectation and the nearest known name.
    static func bind(_ json: JSON?, to members: [JSONSchema.Member], object: JSONSchema) throws(RPCError) -> Params {
        do throws(JSONError) {
            if let json, json.kind == .array, json.count > 0 {
                try check(positional: json, members)
                return Params(.positional(json, members))
            }
            if let json, json.kind == .object {
                try object.validate(json, path: "params")
                return json.count == 0 ? .none : Params(.object(json), found(in: json))
            }
            if let missing = members.first(where: \.required) { throw Self.missing(missing) }
            return .none
        } catch {
            throw .invalidParams(error)
        }
    }

    private static func found(in object: JSON) -> [Found] {
        var found: [Found] = []
        found.reserveCapacity(object.count)
        object.forEachStoredMember { found.append(Found(name: $0, value: $1)) }
        return found
    }

    private static func check(positional json: JSON, _ members: [JSONSchema.Member]) throws(JSONError) {
        guard json.count <= members.count else {
            throw .refused(
                "is one too many", path: "params[\(members.count)]", expected: "at most \(members.count) parameters")
        }
        for (index, member) in members.enumerated() {
            if let value = json[index: index] {
                try member.schema.validate(value, path: "params[\(index)]")
            } else if member.required {
                throw missing(member)
            }
        }
    }

    private static func missing(_ member: JSONSchema.Member) -> JSONError {
        .refused("is missing", path: "params.\(member.name)", expected: member.schema.expectation)
    }

    /// The parameter of that name, if the caller gave it.
    public subscript(name: StaticString) -> JSON? {
        if case .positional(let json, let members) = form {
            let index = members.firstIndex { $0.name.description == name.description }
            return index.flatMap { json[index: $0] }
        }
        guard lengths & Params.bit(forLength: name.utf8CodeUnitCount) != 0 else { return nil }
        // By place: going through the elements would count a reference for each.
        for index in found.indices where found[index].isNamed(name) { return found[index].value }
        return nil
    }

    /// Frees the trees of large values. They are parsed again when they are read.
    public func freeLargeValues() {
        switch form {
        case .none: break
        case .object(let json), .positional(let json, _): json.freeLargeValues()
        }
    }

    /// Appends the parameters as an object, in the caller's order.
    public func write(to writer: inout JSONWriter) {
        switch form {
        case .none:
            writer.beginObject()
            writer.endObject()
        case .object(let json): writer.value(json)
        case .positional(let json, let members):
            writer.beginObject()
            for (index, member) in members.enumerated() { writer.member(member.name, json[index: index]) }
            writer.endObject()
        }
    }
}

@available(*, unavailable)
extension Params: Sendable {}
