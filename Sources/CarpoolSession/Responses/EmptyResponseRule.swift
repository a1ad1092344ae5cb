public import CarpoolHTTP

/// When a body may be empty (RS-02): for some methods, and for some statuses.
public struct EmptyResponseRule: Sendable {
    /// The methods whose responses may have no body.
    public var methods: [HTTPMethod]
    /// The statuses whose responses may have no body.
    public var statuses: [Int]

    /// The defaults are `HEAD`, whose responses have none (RFC 9110, section 9.3.2), and 204 and 205 (sections 15.3.5
    /// and 15.3.6).
    public init(methods: [HTTPMethod] = [.head], statuses: [Int] = [204, 205]) {
        self.methods = methods
        self.statuses = statuses
    }

    func allows(_ request: Request) -> Bool {
        methods.contains(request.sentMethod) || request.response.map { statuses.contains($0.status) } ?? false
    }
}
