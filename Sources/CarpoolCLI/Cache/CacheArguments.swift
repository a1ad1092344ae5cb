internal import CarpoolCaller
internal import CarpoolJSON

/// The arguments of `carpool cache`.
struct CacheArguments: CommandArguments {
    /// The first operand.
    enum Action: String, CaseIterable {
        case list = "ls"
        case get
        case why
        case purge
        case stats
    }

    /// The options that some actions have.
    private enum Setting: String {
        case session = "--session"
        case store = "--store"
        case origin = "--origin"
        case prefix = "--prefix"
        case age = "--older-than"
        case all = "--all"
        case soft = "--soft"
        case header = "--header"
        case json = "--json"
    }

    /// A header field.
    struct Field: Equatable {
        let name: String
        let value: String
    }

    var action: Action?
    /// The URL, or what URLs begin with.
    var url: String?
    var session: String?
    var store: String?
    var origin: String?
    var prefix: String?
    var olderThanMilliseconds: Int?
    var purgesAll = false
    var isSoft = false
    var isJSON = false
    /// The fields of the request.
    private(set) var fields: [Field] = []
    var socket: String?

    /// Takes an operand: the action, then a URL.
    mutating func add(_ operand: String) throws(UsageError) {
        guard let action else {
            action = Action(rawValue: operand)
            guard action == nil else { return }
            let near = NearestName.suggestion(
                for: operand == "list" ? "ls" : operand, among: Action.allCases.map(\.rawValue))
            throw UsageError("cache takes one of ls, get, why, purge, stats, not '\(operand)'\(near)")
        }
        guard action != .stats else { throw UsageError("cache stats takes no '\(operand)'") }
        guard url == nil else { throw UsageError("cache \(action.rawValue) takes one URL, not also '\(operand)'") }
        guard !operand.isEmpty else { throw UsageError("the URL is empty") }
        url = operand
    }

    /// Adds a field of the request, `NAME: VALUE`.
    mutating func addField(_ text: String) throws(UsageError) {
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else {
            throw UsageError("-H takes 'NAME: VALUE', not '\(text)'")
        }
        let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        fields.append(Field(name: String(text[..<colon]), value: String(value)))
    }

    // MARK: Checks

    /// Checks that the action has what it needs, and nothing else.
    func validate() throws(UsageError) {
        guard let action else { throw UsageError("cache needs ls, get, why, purge or stats") }
        let allowed = CacheArguments.allowed(for: action)
        for setting in given where !allowed.contains(setting) {
            throw UsageError("\(setting.rawValue) has no effect with cache \(action.rawValue)")
        }
        guard session == nil || store == nil else { throw UsageError("--session and --store exclude each other") }
        switch action {
        case .get, .why: guard url != nil else { throw UsageError("cache \(action.rawValue) needs a URL") }
        case .purge:
            guard selections == 1 else {
                throw UsageError("cache purge takes one of URL, --prefix, --origin, --older-than and --all")
            }
        case .list, .stats: break
        }
        try checkURLs(of: action)
    }

    /// Checks what the daemon would refuse in the words of the protocol, or what would match nothing.
    private func checkURLs(of action: Action) throws(UsageError) {
        let isHTTP = { (text: String) in text.hasPrefix("http://") || text.hasPrefix("https://") }
        if let prefix, !isHTTP(prefix) {
            throw UsageError("--prefix takes how URLs begin, with http:// or https://, not '\(prefix)'")
        }
        if let origin {
            let rest = origin.split(separator: "/", omittingEmptySubsequences: true)
            guard isHTTP(origin), rest.count == 2, !origin.contains("?"), !origin.contains("#") else {
                throw UsageError(
                    "--origin takes http://HOST[:PORT] or https://HOST[:PORT], not '\(origin)'; for a path use --prefix"
                )
            }
        }
        guard let url, !isHTTP(url) else { return }
        let what = action == .list ? "how URLs begin" : "a URL"
        throw UsageError("cache \(action.rawValue) takes \(what), with http:// or https://, not '\(url)'")
    }

    private static func allowed(for action: Action) -> [Setting] {
        switch action {
        case .list: [.session, .store, .origin, .json]
        case .get: [.session, .header, .json]
        case .why: [.session, .header]
        case .purge: [.session, .store, .origin, .prefix, .age, .all, .soft, .json]
        case .stats: [.store, .json]
        }
    }

    private var given: [Setting] {
        let settings: [(Setting, Bool)] = [
            (.session, session != nil), (.store, store != nil), (.origin, origin != nil), (.prefix, prefix != nil),
            (.age, olderThanMilliseconds != nil), (.all, purgesAll), (.soft, isSoft), (.header, !fields.isEmpty),
            (.json, isJSON),
        ]
        return settings.filter(\.1).map(\.0)
    }

    /// How many of the options say what is purged.
    private var selections: Int {
        [url != nil, prefix != nil, origin != nil, olderThanMilliseconds != nil, purgesAll].count { $0 }
    }

    // MARK: Parameters

    /// Writes the parameters of `cache.list`, `cache.purge` and `cache.stats`.
    /// - Parameter next: the token of a page.
    func write(to writer: inout JSONWriter, next: String? = nil) {
        writer.beginObject()
        writer.member("url", url)
        writer.member("session", session)
        writer.member("store", store)
        writer.member("origin", origin)
        writer.member("prefix", prefix)
        writer.member("older_than_ms", olderThanMilliseconds)
        if purgesAll { writer.member("all", true) }
        if isSoft { writer.member("soft", true) }
        writer.member("next", next)
        writer.endObject()
    }

    /// Writes the parameters of `cache.get` for a URL.
    func writeRequest(of url: String, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("url", url)
        writer.member("session", session)
        if !fields.isEmpty {
            writer.key("headers")
            writer.beginArray()
            for field in fields {
                writer.beginArray()
                writer.string(field.name)
                writer.string(field.value)
                writer.endArray()
            }
            writer.endArray()
        }
        writer.endObject()
    }
}
