public import CarpoolHTTP

/// What every request of a session has in common. Read once, when the session is made: changing it afterwards changes nothing (SE-06).
@dynamicMemberLookup
public struct SessionConfiguration {
    /// Fields that every request carries unless it brings its own of the same name. In this order. They go before the defaults of
    /// ``DefaultFields``, which they replace where the name is the same (HH-10).
    public var fields: [HTTPField] = []
    /// For `Accept-Language`, the dearest first (HH-07). Empty for none.
    public var languages: [String] = []
    /// Whether nothing of the session outlives it: no cookies, no cache and no credentials are kept anywhere but in memory (SE-04).
    public var isEphemeral = false
    /// Whether requests go as soon as somebody waits for them, or only when they are resumed (SE-09).
    public var startsRequestsImmediately = true
    /// Adapts and retries before the request's own (SE-12).
    public var interceptor: Interceptor?
    /// What its requests take from it unless they have their own. Each setting is a member of the configuration as well.
    public var options = TransferOptions()

    /// The defaults (SE-03).
    public init() {}

    /// A setting of ``options``.
    public subscript<Value>(dynamicMember setting: WritableKeyPath<TransferOptions, Setting<Value>>) -> Value {
        get { options[keyPath: setting].value }
        set { options[keyPath: setting].set(newValue) }
    }
}
