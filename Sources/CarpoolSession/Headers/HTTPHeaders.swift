public import CarpoolHTTP

/// Header fields in order, one for each name, compared without case (HH-01).
///
/// For requests that repeat a name, and for responses, use an array of fields: a collection with one value for a name
/// would lose the others (HH-02).
public struct HTTPHeaders: Equatable, Sendable, RandomAccessCollection, CustomStringConvertible {
    /// The fields in their order.
    public private(set) var fields: [HTTPField] = []

    /// No fields.
    public init() {}

    /// Makes headers from fields; a repeated name keeps the position of the first and the spelling and value of the
    /// last.
    public init(_ fields: [HTTPField]) {
        for field in fields { update(field) }
    }

    /// Replaces the field of the same name, or appends it.
    public mutating func update(_ field: HTTPField) {
        if let index = index(of: field.name) { fields[index] = field } else { fields.append(field) }
    }

    /// Updates by name and value.
    /// - Throws: `HTTPField.Refusal` if they are not valid.
    public mutating func update(name: String, value: String) throws(HTTPField.Refusal) {
        update(try HTTPField(name: name, value: value))
    }

    /// Replaces or appends the field, like ``update(_:)``: a name has one value.
    public mutating func add(_ field: HTTPField) { update(field) }

    /// Replaces or appends the field, like ``update(name:value:)``.
    public mutating func add(name: String, value: String) throws(HTTPField.Refusal) {
        try update(name: name, value: value)
    }

    /// Removes the field with that name, if there is one.
    public mutating func remove(name: String) {
        if let index = index(of: name) { fields.remove(at: index) }
    }

    /// Sorts by the names in lower case.
    public mutating func sort() { fields.sort { $0.name.lowercased() < $1.name.lowercased() } }

    /// Returns the same fields, sorted by their names.
    public func sorted() -> HTTPHeaders {
        var headers = self
        headers.sort()
        return headers
    }

    /// The value for a name.
    public func value(for name: String) -> String? { index(of: name).map { fields[$0].value } }

    /// The value for a name.
    public subscript(name: String) -> String? { value(for: name) }

    /// One line for each field: `Name: value`.
    public var description: String { fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n") }

    /// The index of the first field.
    public var startIndex: Int { fields.startIndex }
    /// The index behind the last field.
    public var endIndex: Int { fields.endIndex }
    /// The field at an index.
    public subscript(position: Int) -> HTTPField { fields[position] }

    private func index(of name: String) -> Int? { fields.firstIndex { $0.hasName(name) } }
}
