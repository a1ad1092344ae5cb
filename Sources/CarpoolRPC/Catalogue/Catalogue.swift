public import CarpoolJSON

/// Every method, notification and callback of the protocol. Calls are checked against this table, and the documents are
/// generated from it.
public struct Catalogue: Sendable {
    private struct Entry: Sendable {
        let method: Method
        /// All parameters as one object, made once.
        let object: JSONSchema
    }

    /// The methods, in the order of the documentation.
    public let methods: [Method]
    /// The notifications of the daemon.
    public let notifications: [NotificationDescription]
    /// The calls of the daemon to its clients.
    public let callbacks: [CallbackDescription]
    private let entries: [String: Entry]

    /// Creates a catalogue of these methods. If two have the same name, the first one is used.
    public init(
        methods: [Method], notifications: [NotificationDescription] = [], callbacks: [CallbackDescription] = []
    ) {
        self.methods = methods
        self.notifications = notifications
        self.callbacks = callbacks
        var entries: [String: Entry] = [:]
        for method in methods {
            let entry = Entry(method: method, object: .object(method.params))
            for name in [method.name] + method.aliases where entries[name] == nil { entries[name] = entry }
        }
        self.entries = entries
    }

    /// The method of that name or alias.
    public subscript(name: String) -> Method? { entries[name]?.method }

    /// The error for a name that no method has, with the nearest known name.
    public func methodNotFound(_ name: String) -> RPCError {
        .methodNotFound(name, didYouMean: NearestName.find(name, among: entries.keys.sorted()))
    }

    /// Checks the parameters of a call before anything is done.
    /// - Throws: `RPCError.invalidParams`.
    public func bind(params: JSON?, of method: Method) throws(RPCError) -> Params {
        let object = entries[method.name]?.object ?? .object(method.params)
        return try Params.bind(params, to: method.params, object: object)
    }

    /// Checks a client's answer to a callback; paths begin with `result`.
    /// - Throws: `JSONError` with code `schema`.
    public func check(answer: JSON, to callback: String) throws(JSONError) {
        guard let description = callbacks.first(where: { $0.name == callback }) else { return }
        try description.result.validate(answer, path: "result")
    }
}
