public import CarpoolHTTP

/// Where and how access tokens are obtained. Equal sources have the same token.
public struct TokenSource: Hashable, Sendable {
    /// The token endpoint.
    public let url: String
    /// Its origin.
    let origin: Origin
    /// Who asks, and with which grant; one that obtains credentials.
    public let client: TokenEndpointRefresher.Client
    /// Further fields for the endpoint.
    public let fields: [HTTPField]
    /// A token with less time left is replaced before it is used; see ``OAuth2Authenticator``.
    public let refreshBeforeMilliseconds: Int
    /// Limits how often refused tokens are replaced; `nil` for no limit.
    public let window: RefreshWindow?
    /// The longest time of a token request.
    public let timeoutMilliseconds: Int

    /// Makes a source.
    public init(
        url: HTTPURL, client: TokenEndpointRefresher.Client, fields: [HTTPField] = [],
        refreshBeforeMilliseconds: Int = 300_000, window: RefreshWindow? = RefreshWindow(),
        timeoutMilliseconds: Int = 30_000
    ) {
        self.url = url.description
        origin = url.origin
        self.client = client
        self.fields = fields
        self.refreshBeforeMilliseconds = refreshBeforeMilliseconds
        self.window = window
        self.timeoutMilliseconds = timeoutMilliseconds
    }

    /// An estimate of its memory in bytes.
    var memoryBytes: Int {
        var bytes = url.utf8.count &+ (client.identifier?.utf8.count ?? 0) &+ (client.secret?.utf8.count ?? 0)
        bytes &+= client.scope?.utf8.count ?? 0
        if case .password(let username, let password) = client.grant {
            bytes &+= username.utf8.count &+ password.utf8.count
        }
        for parameter in client.parameters { bytes &+= parameter.name.utf8.count &+ parameter.value.utf8.count }
        return fields.reduce(bytes) { $0 &+ $1.name.utf8.count &+ $1.value.utf8.count }
    }
}
