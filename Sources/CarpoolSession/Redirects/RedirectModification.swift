public import CarpoolHTTP

/// A modification of redirected requests, the same for every hop (RH-03). What it sets is kept: the rules about
/// credentials and about leaving TLS apply to what the origin determines.
public struct RedirectModification {
    /// The URL in place of the redirect's target. User information in it becomes `Authorization`.
    public var url: HTTPURL?
    /// The method. `GET` and `HEAD` drop the body.
    public var method: HTTPMethod?
    /// Fields that replace those of the same name.
    public var fields: [HTTPField] = []
    /// Names of fields to remove, whatever their case.
    public var removedFields: [String] = []
    /// Whether the body and the fields about it are dropped.
    public var dropsBody = false

    /// Makes a modification that changes nothing.
    public init() {}

    /// Modifies a request whose target is already ``url``.
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
    /// Drops the body, the fields that describe it (RFC 9110, section 15.4), and those of its transfer: a request
    /// without a body must not have `Expect: 100-continue` (section 10.1.1).
    mutating func dropBody() {
        body = .none
        expectsContinue = false
        fields.removeAll { field in
            field.name.lowercased().hasPrefix("content-") || field.isNamed("digest") || field.isNamed("repr-digest")
                || field.isNamed("last-modified") || field.isNamed("transfer-encoding") || field.isNamed("expect")
                || field.isNamed("trailer")
        }
    }

    /// Sets `Authorization` from the URL's user information (RFC 7617), unless an intended one is there.
    mutating func authorize(unless isMeant: (HTTPField) -> Bool) {
        guard let user = url.userInformation, !fields.contains(where: { $0.isNamed("authorization") && isMeant($0) })
        else { return }
        let token = BasicCredential.token(user: user.user, password: user.password)
        guard let field = try? HTTPField(name: "Authorization", value: "Basic \(token)") else { return }
        fields.removeAll { $0.isNamed("authorization") }
        fields.append(field)
    }
}
