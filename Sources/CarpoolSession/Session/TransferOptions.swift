public import CarpoolHTTP

/// The settings that sessions and requests have in common. A request takes those of its session where it has none of its own.
///
/// Their defaults stand here and nowhere else in this target.
public struct TransferOptions {
    /// How servers' certificates are judged.
    public var trust = Setting(ConnectionPartition.Trust.system)
    /// The versions of HTTP that may be used.
    public var httpVersion = Setting(HTTPVersionPolicy.automatic)
    /// What happens to characters that a URL must not contain.
    public var urlEncoding = Setting(URLEncoding.percent)
    /// What happens on a redirect.
    public var redirect = Setting(RedirectHandler.follow)
    /// Judge the response, in order (VA-08).
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
    /// The most decoded bytes per encoded byte.
    public var maximumDecodingRatio = Setting(200)
    /// The most bytes of a response's body, decoded; of a download, those of its file. More fail the request with `response_too_large`.
    public var maximumBodyBytes = Setting(Int.max)

    /// Every default.
    @inlinable public init() {}

    /// These settings, and those of `base` where nothing is given here.
    func merged(over base: borrowing TransferOptions) -> TransferOptions {
        var merged = self
        merged.trust.inherit(base.trust)
        merged.httpVersion.inherit(base.httpVersion)
        merged.urlEncoding.inherit(base.urlEncoding)
        merged.redirect.inherit(base.redirect)
        merged.validators.inherit(base.validators)
        merged.setup.inherit(base.setup)
        merged.idleTimeoutMilliseconds.inherit(base.idleTimeoutMilliseconds)
        merged.resourceTimeoutMilliseconds.inherit(base.resourceTimeoutMilliseconds)
        merged.connectTimeoutMilliseconds.inherit(base.connectTimeoutMilliseconds)
        merged.waitsForConnectivity.inherit(base.waitsForConnectivity)
        merged.decodesContent.inherit(base.decodesContent)
        merged.maximumDecodingRatio.inherit(base.maximumDecodingRatio)
        merged.maximumBodyBytes.inherit(base.maximumBodyBytes)
        return merged
    }
}

/// A setting with a default.
public struct Setting<Value> {
    /// What is in force: the value that was given, or the inherited one, or the default.
    public private(set) var value: Value
    /// Whether a value was given here, rather than inherited.
    public private(set) var isGiven = false

    init(_ standard: Value) { value = standard }

    /// The value that was given; `nil` if there is none.
    public var given: Value? { isGiven ? value : nil }

    /// Gives a value; `nil` changes nothing.
    public mutating func set(_ new: Value?) {
        guard let new else { return }
        value = new
        isGiven = true
    }

    /// Takes the value of a session's setting unless one was given here.
    mutating func inherit(_ base: Setting) {
        if !isGiven { value = base.value }
    }
}
