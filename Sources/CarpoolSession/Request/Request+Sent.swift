internal import CarpoolHTTP

// The sent request, as validators and serializers need it: as it was built, before redirects changed it (RL-20).
extension Request {
    /// The method of the last request that was built.
    var sentMethod: HTTPMethod { urlRequest?.method ?? parameters.method }

    /// The values of a field of the last request that was built, joined as RFC 9110, section 5.3 allows; `nil` if it
    /// had none.
    func sentValue(of name: StaticString) -> String? {
        let fields = urlRequest?.fields ?? parameters.fields
        guard let first = fields.firstIndex(where: { $0.isNamed(name) }) else { return nil }
        return fields[first...].filter { $0.isNamed(name) }.map(\.value).joined(separator: ", ")
    }

    /// Whether the adapters, or the creation of the body, have not finished yet.
    public var isBeingPrepared: Bool {
        [.adapting, .creatingBody].contains(machine.state)
    }
}
