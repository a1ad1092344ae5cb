internal import CarpoolHTTP

// What was sent, as far as judging its response needs it.
extension Request {
    /// The method of the last request that was built.
    var sentMethod: HTTPMethod { current?.method ?? parameters.method }

    /// The values of a field of the last request that was built, joined as RFC 9110, section 5.3 allows; `nil` if it had none.
    func sentValue(of name: StaticString) -> String? {
        let values = (current?.fields ?? parameters.fields).filter { $0.isNamed(name) }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}
