public import CarpoolHTTP

/// Sets one field of every request.
public final class SetHeaderAdapter: RequestInterceptor {
    /// How existing fields of that name are handled.
    public enum Mode: String, Sendable {
        /// The first of them gets the value, the others are removed.
        case replace
        /// They stay; the new one comes last.
        case append
        /// They stay, and there is no new one.
        case ifAbsent = "if_absent"
    }

    private let field: HTTPField
    private let mode: Mode

    /// Makes an adapter.
    public init(_ field: HTTPField, mode: Mode = .replace) {
        self.field = field
        self.mode = mode
    }

    /// Sets the credentials of HTTP's Basic scheme (RFC 7617, HH-04). `nil` if the user holds a colon, which would end
    /// it, or either of them a control character.
    public static func basic(user: String, password: String) -> SetHeaderAdapter? {
        guard !user.utf8.contains(0x3A), (user + password).utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            return nil
        }
        let token = BasicCredential.token(user: user, password: password)
        return (try? HTTPField(name: "Authorization", value: "Basic \(token)")).map { SetHeaderAdapter($0) }
    }

    /// Sets a token of the Bearer scheme (RFC 6750, section 2.1). `nil` if it is empty, or holds a blank or a control
    /// character.
    public static func bearer(token: String) -> SetHeaderAdapter? { bearerField(token).map { SetHeaderAdapter($0) } }

    static func bearerField(_ token: String) -> HTTPField? {
        guard !token.isEmpty, token.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
        return try? HTTPField(name: "Authorization", value: "Bearer \(token)")
    }

    /// Sets the field.
    public func adapt(
        _ urlRequest: TransportRequest, for request: Request,
        completion: @escaping (Result<TransportRequest, SessionError>) -> Void
    ) {
        var urlRequest = urlRequest
        adaptSynchronously(&urlRequest)
        completion(.success(urlRequest))
    }

    /// Always `true`: the field is known.
    public var adaptsSynchronously: Bool { true }

    /// Sets the field.
    public func adaptSynchronously(_ urlRequest: inout TransportRequest) {
        guard let first = urlRequest.fields.firstIndex(where: { $0.hasName(field.name) }) else {
            return urlRequest.fields.append(field)
        }
        switch mode {
        case .append: urlRequest.fields.append(field)
        case .ifAbsent: break
        case .replace:
            urlRequest.fields.removeAll { $0.hasName(field.name) }
            urlRequest.fields.insert(field, at: first)
        }
    }
}
