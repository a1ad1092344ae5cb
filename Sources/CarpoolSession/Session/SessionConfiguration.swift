public import CarpoolHTTP

/// The common settings of a session's requests. Read once, when the session is made: later changes have no effect (SE-06).
@dynamicMemberLookup
public struct SessionConfiguration {
    /// Fields that every request carries unless it has its own of the same name. They are sent in this order, before the defaults of
    /// ``DefaultFields``, which they replace where the name is the same (HH-10).
    public var fields: [HTTPField] = []
    /// The languages for `Accept-Language`, the preferred first (HH-07). Empty for none.
    public var languages: [String] = []
    /// Whether the session stores nothing on disk: no cookies, no cache and no credentials outside memory (SE-04).
    public var isEphemeral = false
    /// Whether requests start as soon as a caller waits for them, or only when they are resumed (SE-09).
    public var startsRequestsImmediately = true
    /// The session's interceptor; it runs before the request's own (SE-12).
    public var interceptor: Interceptor?
    /// The settings that requests inherit unless they have their own. Each setting is a member of the configuration as well.
    public var options = TransferOptions()

    /// The defaults (SE-03).
    public init() {}

    /// A setting of ``options``.
    public subscript<Value>(dynamicMember setting: WritableKeyPath<TransferOptions, Setting<Value>>) -> Value {
        get { options[keyPath: setting].value }
        set { options[keyPath: setting].set(newValue) }
    }
}
