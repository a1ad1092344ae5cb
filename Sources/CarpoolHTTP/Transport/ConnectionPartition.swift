/// The properties of a connection that must be equal for two requests to share it.
public struct ConnectionPartition: Hashable, Sendable {
    /// How the connection is made and secured; `nil` if every setting has its default.
    public var settings: ConnectionSettings?
    /// The value of a `Host` field that differs from the URL's authority, in lower case; `nil` without one. The
    /// transport sets it from the fields of the request.
    public var host: String?
    /// The user for whom the connection is made; `nil` for the process's own user. Users share neither connections
    /// nor TLS sessions nor looked-up names: each of the three would show one user what another does.
    public var user: UInt32?

    /// The common partition by default: every setting's default, no other host, the process's own user.
    public init(settings: ConnectionSettings? = nil, host: String? = nil, user: UInt32? = nil) {
        self.settings = settings
        self.host = host
        self.user = user
    }

    /// How the server's certificate is verified.
    public var trust: ServerTrust {
        get { settings?.values.trust ?? .system }
        set { change { $0.trust = newValue } }
    }

    /// The versions and ciphers of TLS; `nil` for the defaults.
    public var tls: TLSSettings? {
        get { settings?.values.tls }
        set { change { $0.tls = newValue } }
    }

    /// The certificate that is presented to servers that ask for one; `nil` for none.
    public var certificate: ClientCertificate? {
        get { settings?.values.certificate }
        set { change { $0.certificate = newValue } }
    }

    /// How the host is reached; `nil` for the address that its name resolves to.
    public var addresses: ConnectionAddresses? {
        get { settings?.values.addresses }
        set { change { $0.addresses = newValue } }
    }

    /// The proxy through which the connection is made; `nil` for none.
    public var proxy: Proxy? {
        get { settings?.values.proxy }
        set { change { $0.proxy = newValue } }
    }

    /// The origin of the proxy itself, if requests for an origin go to it as they are; `nil` if each connection is a
    /// tunnel to one origin, or there is no proxy. For a host that `connect_to` replaces libcurl makes a tunnel.
    public func proxyOrigin(for origin: Origin) -> Origin? {
        guard let values = settings?.values, let shared = values.proxy?.sharedOrigin(for: origin) else { return nil }
        guard let addresses = values.addresses, addresses.replacement(of: origin) != nil else { return shared }
        let destination = addresses.destination(for: origin)
        return destination.host == origin.host && destination.port == origin.port ? shared : nil
    }

    private mutating func change(_ body: (inout ConnectionSettings.Values) -> Void) {
        var values = settings?.values ?? ConnectionSettings.Values()
        body(&values)
        settings = ConnectionSettings.make(values)
    }

    /// The partition of connections without TLS: nothing that concerns TLS separates them.
    var withoutTLS: ConnectionPartition {
        ConnectionPartition(settings: settings?.withoutTLS, host: host, user: user)
    }

    /// The settings that are not the default, by their names in requests, and `host` for another `Host`.
    public var differences: [String] { (settings?.values.differences ?? []) + (host == nil ? [] : ["host"]) }
}
