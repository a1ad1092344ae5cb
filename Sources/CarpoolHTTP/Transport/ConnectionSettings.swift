/// The settings of a connection: everything except the user and the `Host` field that must be equal for two requests
/// to share it. Equal if their content is.
///
/// An immutable object, because every copy of a request has a reference to it. Requests with the defaults have none
/// (``ConnectionPartition/settings``).
public final class ConnectionSettings: Hashable, Sendable {
    /// The settings by name.
    public struct Values: Hashable, Sendable {
        /// How the server's certificate is verified.
        public var trust = ServerTrust.system
        /// The versions and ciphers of TLS; `nil` for the defaults.
        public var tls: TLSSettings?
        /// The certificate that is presented to servers that ask for one; `nil` for none.
        public var certificate: ClientCertificate?
        /// How the host is reached; `nil` for the address that its name resolves to.
        public var addresses: ConnectionAddresses?
        /// The proxy through which the connection is made; `nil` for none.
        public var proxy: Proxy?

        /// The defaults.
        public init() {}

        fileprivate var isDefault: Bool { !concernTLS && addresses == nil && proxy == nil }

        /// Those that are not the default, by their names in requests.
        var differences: [String] {
            var names: [String] = []
            if trust != .system { names.append("trust") }
            if tls != nil { names.append("tls") }
            if certificate != nil { names.append("client_certificate") }
            if addresses != nil { names.append("addresses") }
            if proxy != nil { names.append("proxy") }
            return names
        }

        /// Whether any of them matters for TLS alone.
        fileprivate var concernTLS: Bool { tls != nil || certificate != nil || trust != .system }
    }

    /// The settings by name.
    public let values: Values
    private let hash: Int

    /// Makes settings; `nil` if all are the defaults.
    public static func make(_ values: Values) -> ConnectionSettings? {
        var values = values
        // The defaults share connections, whether they are named or not.
        if values.tls == standardTLS { values.tls = nil }
        return values.isDefault ? nil : ConnectionSettings(values)
    }

    private static let standardTLS = TLSSettings()

    private init(_ values: Values) {
        self.values = values
        hash = values.hashValue
    }

    /// The settings that matter without TLS; `nil` if those are the defaults.
    var withoutTLS: ConnectionSettings? {
        guard values.concernTLS else { return self }
        var plain = Values()
        plain.addresses = values.addresses
        plain.proxy = values.proxy
        // An HTTPS proxy is verified by the same authorities.
        if let proxy = values.proxy, proxy.kind == .https { plain.trust = values.trust.authoritiesAlone }
        return ConnectionSettings.make(plain)
    }

    /// Whether the content is the same.
    public static func == (a: ConnectionSettings, b: ConnectionSettings) -> Bool {
        a === b || a.hash == b.hash && a.values == b.values
    }

    /// The content's hash, computed once.
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
