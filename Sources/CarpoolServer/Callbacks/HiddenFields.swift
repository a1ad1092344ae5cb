internal import CarpoolHTTP
internal import CarpoolSession

/// The fields of a request whose values a client does not get. It returns them as it got them: then they keep their
/// values.
struct HiddenFields {
    private var fields: [HTTPField]

    /// - Parameter shown: the same fields, as the client gets them.
    init(_ fields: [HTTPField], shown: [HTTPField]) {
        self.fields = zip(fields, shown).compactMap { $0.value == $1.value ? nil : $0 }
    }

    /// Takes out the first field of that name, if the value is what is shown in place of its own.
    mutating func take(_ name: String, _ value: String) -> HTTPField? {
        guard value == Redaction.mark, let index = fields.firstIndex(where: { $0.hasName(name) }) else { return nil }
        return fields.remove(at: index)
    }
}

extension Request {
    /// The fields of one of its hops that clients do not see.
    func hidden(of sent: TransportRequest) -> HiddenFields { HiddenFields(sent.fields, shown: shown(sent.fields)) }
}
