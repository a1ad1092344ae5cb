internal import CarpoolHTTP

// What was asked for, as far as judging the response needs it: the request as it was built, not what redirects made of it (RL-20).
extension Request {
    /// The method of the last request that was built.
    var sentMethod: HTTPMethod { urlRequest?.method ?? parameters.method }

    /// The values of a field of the last request that was built, joined as RFC 9110, section 5.3 allows; `nil` if it had none.
    func sentValue(of name: StaticString) -> String? {
        let fields = urlRequest?.fields ?? parameters.fields
        guard let first = fields.firstIndex(where: { $0.isNamed(name) }) else { return nil }
        return fields[first...].filter { $0.isNamed(name) }.map(\.value).joined(separator: ", ")
    }

    /// Whether adapters, or what makes its body, still have the request to send.
    public var isBeingMade: Bool {
        [.adapting, .creatingBody].contains(machine.state)
    }
}
