internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// Reads the member `oauth2` of an interceptor, which has passed its schema.
struct OAuth2Reader {
    let json: JSON
    /// Its place, for refusals.
    let path: String

    /// The parameters of a token request that members of their own set.
    private static let ownParameters = [
        "grant_type", "client_id", "client_secret", "username", "password", "refresh_token", "scope",
    ]

    var timeoutMilliseconds: Int { json["refresh_timeout_ms"]?.int ?? 30_000 }
    var refreshBeforeMilliseconds: Int { json["refresh_before_ms"]?.int ?? 300_000 }

    /// The limit of refreshes; `nil` for none.
    var window: RefreshWindow? {
        guard let given = json["window"] else { return RefreshWindow() }
        guard !given.isNull else { return nil }
        return RefreshWindow(
            intervalMilliseconds: given["interval_ms"]?.int ?? 30_000, maximumAttempts: given["attempts"]?.int ?? 5)
    }

    /// The credential that the caller has.
    func credential() throws(RPCError) -> OAuth2Credential? {
        try json["credential"].flatMap { (json) throws(RPCError) in
            try InterceptorReader.credential(json, path: "\(path).credential")
        }
    }

    func url() throws(RPCError) -> HTTPURL {
        do throws(TransportError) { return try HTTPURL(json["token_url"]?.string ?? "") } catch {
            throw refusal("token_url", error.message, "an absolute http or https URL")
        }
    }

    /// Who asks for tokens, and for what.
    func client() throws(RPCError) -> TokenEndpointRefresher.Client {
        let grant = try grant()
        var client = TokenEndpointRefresher.Client(
            identifier: json["client_id"]?.string, secret: json["client_secret"]?.string,
            scope: json["scope"]?.string, grant: grant,
            authentication: grant == .refreshToken ? .body : .basic, parameters: try parameters())
        if let given = json["client_auth"]?.string.flatMap(TokenEndpointRefresher.Client.Authentication.init) {
            client.authentication = given
        }
        return client
    }

    private func grant() throws(RPCError) -> TokenEndpointRefresher.Client.Grant {
        let name = json["grant"]?.string ?? "refresh_token"
        let members = ["username", "password"]
        guard name == "password" else {
            if let given = members.first(where: { json[$0] != nil }) {
                throw refusal(given, "the grant \(name) has none", "no \(given), or grant \"password\"")
            }
            guard name == "client_credentials" else { return .refreshToken }
            try refuseCredential(name)
            return .clientCredentials
        }
        if let missing = members.first(where: { json[$0] == nil }) {
            throw refusal(missing, "is missing", "username and password, for the grant password")
        }
        try refuseCredential(name)
        return .password(username: json["username"]?.string ?? "", password: json["password"]?.string ?? "")
    }

    /// Refuses a credential of the caller's where the daemon obtains one.
    private func refuseCredential(_ grant: String) throws(RPCError) {
        guard let credential = json["credential"], !credential.isNull else { return }
        throw refusal(
            "credential", "with the grant \(grant) the daemon obtains the token",
            "no credential, or grant \"refresh_token\"")
    }

    private func parameters() throws(RPCError) -> [TokenEndpointRefresher.Client.Parameter] {
        var parameters: [TokenEndpointRefresher.Client.Parameter] = []
        try json["parameters"]?.forEachMember { (name: String, value: JSON) throws(RPCError) in
            guard !OAuth2Reader.ownParameters.contains(name) else {
                let member = name == "grant_type" ? "grant" : name == "refresh_token" ? "credential" : name
                throw refusal("parameters.\(name)", "is not a further parameter", "the member \(member) of oauth2")
            }
            guard value.kind == .array else { return parameters.append(.init(name, value.string ?? "")) }
            value.forEachElement { parameters.append(.init(name, $0.string ?? "")) }
        }
        return parameters
    }

    /// Checks that the endpoint gets to know who asks, and only once.
    func check(_ client: TokenEndpointRefresher.Client, _ fields: [HTTPField]) throws(RPCError) {
        let authorizes = fields.contains { $0.isNamed("authorization") }
        if client.secret != nil, client.identifier == nil, client.authentication == .basic {
            throw refusal("client_id", "is missing", "the client's name, which belongs to client_secret")
        }
        if client.secret != nil, client.authentication == .basic, authorizes {
            throw refusal(
                "headers", "client_auth basic sets Authorization", "client_auth \"body\", or no Authorization")
        }
        if client.grant == .clientCredentials, client.identifier == nil, !authorizes {
            throw refusal("client_id", "is missing", "the client's name, or Authorization in headers")
        }
    }

    private func refusal(_ member: String, _ message: String, _ expected: String) -> RPCError {
        .invalidParams(path: "\(path).\(member)", message: message, expected: expected)
    }
}
