public import CarpoolHTTP

/// The common settings of a session's requests. Read once, when the session is made: later changes have no effect
/// (SE-06).
@dynamicMemberLookup
public struct SessionConfiguration {
    /// Fields that every request carries unless it has its own of the same name. They are sent in this order, before
    /// the defaults of ``DefaultFields``, which they replace where the name is the same (HH-10).
    public var fields: [HTTPField] = []
    /// The languages for `Accept-Language`, the preferred first (HH-07). Empty for none.
    public var languages: [String] = []
    /// Whether the session stores nothing on disk: no cookies, no cache and no credentials outside memory (SE-04).
    public var isEphemeral = false
    /// How the session keeps cookies; `nil` for none.
    public var cookies: CookieSettings?
    /// The session's cache; `nil` for none.
    public var caching: SessionCaching?
    /// Whether requests start as soon as a caller waits for them, or only when they are resumed (SE-09).
    public var startsRequestsImmediately = true
    /// Names of fields, in lower case, whose values are secrets of the session: ``shown(_:)`` hides them, and redirects
    /// to another origin remove them.
    public var hiddenFields: [String] = []
    /// The credentials of requests without their own, by protection space (HA-01).
    public var credentials = SessionCredentials()
    /// The session's interceptor; it runs before the request's own (SE-12).
    public var interceptor: (any RequestInterceptor)?
    /// The settings that requests inherit unless they have their own. Each setting is a member of the configuration as
    /// well.
    public var options = TransferOptions()

    /// The defaults (SE-03).
    public init() {}

    /// The fields of a request of the session as clients see them, also the one that made the request.
    public func shown(_ fields: [HTTPField]) -> [HTTPField] {
        hiddenFields.isEmpty ? fields : SessionConfiguration.hiding(hiddenFields, in: fields)
    }

    /// Hides the values of the fields with these names.
    static func hiding(_ names: [String], in fields: [HTTPField]) -> [HTTPField] {
        fields.map { field in
            guard names.contains(where: field.hasName) else { return field }
            return (try? HTTPField(name: field.name, value: Redaction.mark)) ?? field
        }
    }

    /// A setting of ``options``.
    public subscript<Value>(dynamicMember setting: WritableKeyPath<TransferOptions, Setting<Value>>) -> Value {
        get { options[keyPath: setting].value }
        set { options[keyPath: setting].set(newValue) }
    }
}

/// The common settings of sessions and requests. A request inherits those of its session that it does not set.
///
/// The defaults are declared only here.
public struct TransferOptions {
    /// How servers' certificates are judged.
    public var trust = Setting(ServerTrust.system)
    /// Whether the authorities are those of the program's environment: the trust of the session takes precedence.
    public var isTrustOfEnvironment = false
    /// The evaluators of servers by host, in place of the standard check (SE-13); `nil` for the standard check of every
    /// host.
    public var serverTrustManager = Setting<ServerTrustManager?>(nil)
    /// The versions and ciphers of TLS; `nil` for TLS 1.2 and newer with OpenSSL's ciphers.
    public var tls = Setting<TLSSettings?>(nil)
    /// The certificate that is presented to servers that ask for one; `nil` for none.
    public var certificate = Setting<ClientCertificate?>(nil)
    /// How hosts are reached; `nil` for the addresses that their names resolve to.
    public var addresses = Setting<ConnectionAddresses?>(nil)
    /// The proxies; `nil` for none.
    public var proxy = Setting<ProxySettings?>(nil)
    /// The versions of HTTP that may be used.
    public var httpVersion = Setting(HTTPVersionPolicy.automatic)
    /// How characters that a URL must not contain are handled.
    public var urlEncoding = Setting(URLEncoding.percent)
    /// How redirects are handled.
    public var redirect = Setting(RedirectHandler.follow)
    /// The validators of the response, in order (VA-08).
    public var validators = Setting([any ResponseValidator]())
    /// When requests to send are made (SE-11).
    public var setup = Setting(RequestSetup.lazy)
    /// The longest time without a byte in either direction, in milliseconds.
    public var idleTimeoutMilliseconds = Setting(60_000)
    /// The longest time for a whole request with its redirects, in milliseconds: 7 days, as in URLSession. It begins
    /// again with each attempt.
    public var resourceTimeoutMilliseconds = Setting(604_800_000)
    /// The longest time to resolve, connect and agree on TLS, in milliseconds.
    public var connectTimeoutMilliseconds = Setting(60_000)
    /// Whether requests wait until their host is reachable, instead of failing. Only the resource timeout runs
    /// meanwhile.
    public var waitsForConnectivity = Setting(false)
    /// Whether bodies are decoded (gzip, deflate, br, zstd).
    public var decodesContent = Setting(true)
    /// Whether compressed files that are labelled with their own format stay as they are, and downloads decode what was
    /// encoded unasked.
    public var keepsFiles = Setting(false)
    /// The largest ratio of decoded to encoded bytes.
    public var maximumDecodingRatio = Setting(200)
    /// The most bytes of a response's body, decoded; for a download, of its file. A larger one fails the request with
    /// `response_too_large`.
    public var maximumBodyBytes = Setting(Int.max)
    /// The most connections of its client to one HTTP/1.1 host while requests with this setting wait or run; `nil` for
    /// the engine's default.
    public var connectionsPerHost = Setting<Int?>(nil)

    /// Makes options with every default.
    @inlinable public init() {}

    /// Takes the settings of connections of other options, whether they are given or not.
    mutating func setConnection(_ other: borrowing TransferOptions) {
        trust.set(other.trust.value)
        serverTrustManager.set(other.serverTrustManager.value)
        tls.set(other.tls.value)
        certificate.set(other.certificate.value)
        addresses.set(other.addresses.value)
        proxy.set(other.proxy.value)
    }

    /// Takes the values of `base` where none is given here. In place: a copy of all settings costs as much as the rest.
    mutating func merge(over base: borrowing TransferOptions) {
        if isTrustOfEnvironment, base.trust.isGiven {
            trust = Setting(base.trust.value)
            serverTrustManager = Setting(base.serverTrustManager.value)
        } else {
            trust.inherit(base.trust)
            serverTrustManager.inherit(base.serverTrustManager)
        }
        tls.inherit(base.tls)
        addresses.inherit(base.addresses)
        certificate.inherit(base.certificate)
        if let own = proxy.value, own.precedence != .all, base.proxy.isGiven {
            proxy.set(.some(base.proxy.value?.combined(with: own)))
        } else {
            proxy.inherit(base.proxy)
        }
        httpVersion.inherit(base.httpVersion)
        urlEncoding.inherit(base.urlEncoding)
        redirect.inherit(base.redirect)
        validators.inherit(base.validators)
        setup.inherit(base.setup)
        idleTimeoutMilliseconds.inherit(base.idleTimeoutMilliseconds)
        resourceTimeoutMilliseconds.inherit(base.resourceTimeoutMilliseconds)
        connectTimeoutMilliseconds.inherit(base.connectTimeoutMilliseconds)
        waitsForConnectivity.inherit(base.waitsForConnectivity)
        decodesContent.inherit(base.decodesContent)
        keepsFiles.inherit(base.keepsFiles)
        maximumDecodingRatio.inherit(base.maximumDecodingRatio)
        maximumBodyBytes.inherit(base.maximumBodyBytes)
        connectionsPerHost.inherit(base.connectionsPerHost)
    }
}
