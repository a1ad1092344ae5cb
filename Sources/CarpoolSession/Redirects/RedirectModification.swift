public import CarpoolHTTP

/// What is changed in a redirected request, the same for every hop (RH-03). What it sets is meant: the rules about credentials and about
/// leaving TLS are for what the origin makes of the request.
public struct RedirectModification {
    /// Where to, instead of where the origin points. User information in it becomes `Authorization`.
    public var url: HTTPURL?
    /// The method. `GET` and `HEAD` leave the body behind.
    public var method: HTTPMethod?
    /// Fields that replace those of the same name.
    public var fields: [HTTPField] = []
    /// Names of fields that are taken away, whatever their case.
    public var removedFields: [String] = []
    /// Whether the body and the fields about it are left behind.
    public var dropsBody = false

    /// Makes one that changes nothing.
    public init() {}

    /// Changes a request that already leads to ``url``.
    func apply(to proposed: TransportRequest) -> TransportRequest {
        var next = proposed
        if let method { next.method = method }
        if dropsBody || method == .get || method == .head { next.dropBody() }
        next.fields.removeAll { field in
            removedFields.contains(where: field.hasName) || fields.contains { $0.hasName(field.name) }
        }
        next.fields += fields
        if url != nil { next.authorize { field in fields.contains { $0.hasName(field.name) } } }
        return next
    }
}

extension TransportRequest {
    /// Leaves the body behind, and the fields that describe it (RFC 9110, section 15.4).
    mutating func dropBody() {
        body = .none
        fields.removeAll { field in
            field.name.lowercased().hasPrefix("content-") || field.isNamed("digest") || field.isNamed("repr-digest")
                || field.isNamed("last-modified")
        }
    }

    /// Makes `Authorization` of the URL's user information (RFC 7617), unless there is one that is meant.
    mutating func authorize(unless isMeant: (HTTPField) -> Bool) {
        guard let user = url.userInformation, !fields.contains(where: { $0.isNamed("authorization") && isMeant($0) })
        else { return }
        let token = BasicCredential.token(user: user.user, password: user.password)
        guard let field = try? HTTPField(name: "Authorization", value: "Basic \(token)") else { return }
        fields.removeAll { $0.isNamed("authorization") }
        fields.append(field)
    }
}
