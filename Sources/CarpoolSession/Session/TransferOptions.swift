public import CarpoolHTTP

/// The common settings of sessions and requests. A request inherits those of its session that it does not set.
///
/// The defaults are declared only here.
public struct TransferOptions {
    /// How servers' certificates are judged.
    public var trust = Setting(ConnectionPartition.Trust.system)
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
    /// The longest time for a whole request with its redirects, in milliseconds: 7 days, as in URLSession. It begins again with each attempt.
    public var resourceTimeoutMilliseconds = Setting(604_800_000)
    /// The longest time to resolve, connect and agree on TLS, in milliseconds.
    public var connectTimeoutMilliseconds = Setting(60_000)
    /// Whether requests wait until their host is reachable, instead of failing. Only the resource timeout runs meanwhile.
    public var waitsForConnectivity = Setting(false)
    /// Whether bodies are decoded (gzip, deflate, br, zstd).
    public var decodesContent = Setting(true)
    /// The largest ratio of decoded to encoded bytes.
    public var maximumDecodingRatio = Setting(200)
    /// The most bytes of a response's body, decoded; for a download, of its file. A larger one fails the request with `response_too_large`.
    public var maximumBodyBytes = Setting(Int.max)

    /// Makes options with every default.
    @inlinable public init() {}

    /// Takes the values of `base` where none is given here. In place: a copy of all settings costs as much as the rest.
    mutating func merge(over base: borrowing TransferOptions) {
        trust.inherit(base.trust)
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
        maximumDecodingRatio.inherit(base.maximumDecodingRatio)
        maximumBodyBytes.inherit(base.maximumBodyBytes)
    }
}

/// A setting with a default.
public struct Setting<Value> {
    /// The effective value: the one that was set, or the inherited one, or the default.
    public private(set) var value: Value
    /// Whether a value was set here, rather than inherited.
    public private(set) var isGiven = false

    init(_ standard: Value) { value = standard }

    /// The value that was set here; `nil` if there is none.
    public var given: Value? { isGiven ? value : nil }

    /// Sets a value; `nil` changes nothing.
    public mutating func set(_ new: Value?) {
        guard let new else { return }
        value = new
        isGiven = true
    }

    /// Takes the value of a session's setting unless one was given here.
    @inline(__always)
    mutating func inherit(_ base: borrowing Setting) {
        if !isGiven { value = base.value }
    }
}
