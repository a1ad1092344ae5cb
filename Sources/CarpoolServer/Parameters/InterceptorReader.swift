internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

/// Makes an interceptor of the member `interceptor`, which has passed its schema.
struct InterceptorReader {
    /// Makes those that ask a client.
    let callbacks: any CallbackFactory
    /// Keeps the time of refreshes.
    let scheduler: any Scheduler
    /// Knows when the network is back.
    let connectivity: any Connectivity
    /// Makes the ids of token requests, and has the tokens that requests share.
    let tokens: any TokenProvider
    /// The user whose tokens they are.
    let uid: UInt32

    /// The results of reading the elements, each in the order of the list.
    private struct Parts {
        var adapters: [any RequestAdapter] = []
        var retriers: [any RequestRetrier] = []

        mutating func add(_ both: any RequestInterceptor) {
            adapters.append(both)
            retriers.append(both)
        }
    }

    /// The interceptor of a list; `nil` of an empty one.
    func interceptor(_ json: JSON, path: String) throws(RPCError) -> Interceptor? {
        var parts = Parts()
        for index in 0..<json.count {
            guard let element = json[index: index] else { continue }
            try add(element, to: &parts, path: "\(path)[\(index)]")
        }
        return json.count == 0 ? nil : Interceptor(adapters: parts.adapters, retriers: parts.retriers)
    }

    // A path is made only where something is wrong: it costs as much as what it names.
    private func add(_ json: JSON, to parts: inout Parts, path: @autoclosure () -> String) throws(RPCError) {
        if let adapter = try adapter(json, path: path()) { return parts.adapters.append(adapter) }
        if let policy = try policy(json, path: path()) { return parts.retriers.append(PolicyRetrier(policy)) }
        if let retrier = try offlineRetrier(json, path: path()) { return parts.retriers.append(retrier) }
        if let json = json["oauth2"] { return parts.add(try oauth2(json, path: "\(path()).oauth2")) }
        if let json = json["callback"] { parts.add(try callbacks.interceptor(json, path: "\(path()).callback")) }
    }

    private func adapter(_ json: JSON, path: @autoclosure () -> String) throws(RPCError) -> (any RequestAdapter)? {
        if let json = json["set_header"] { return try setHeader(json, path: "\(path()).set_header") }
        if let json = json["rewrite"] { return try rewrite(json, path: "\(path()).rewrite") }
        if let json = json["basic_auth"] { return try basicAuthentication(json, path: "\(path()).basic_auth") }
        if let json = json["bearer"] { return try bearer(json, path: "\(path()).bearer") }
        if let json = json["compress"] { return try CompressorReader.read(json, path: "\(path()).compress") }
        return json.isString("compress") ? try CompressorReader.read(nil, path: path()) : nil
    }

    private func policy(_ json: JSON, path: @autoclosure () -> String) throws(RPCError) -> RetryPolicy? {
        if json.isString("retry_policy") { return RetryPolicy() }
        if json.isString("connection_lost") { return RetryPolicy.connectionLost() }
        if let options = json["retry_policy"] {
            return try RetryPolicyReader(path: "\(path()).retry_policy").retryPolicy(options)
        }
        guard let options = json["connection_lost"] else { return nil }
        return try RetryPolicyReader(path: "\(path()).connection_lost").connectionLost(options)
    }

    private func offlineRetrier(_ json: JSON, path: @autoclosure () -> String) throws(RPCError) -> OfflineRetrier? {
        if json.isString("offline") { return OfflineRetrier(connectivity: connectivity, scheduler: scheduler) }
        guard let json = json["offline"] else { return nil }
        let reader = RetryPolicyReader(path: "\(path()).offline")
        return OfflineRetrier(
            connectivity: connectivity, scheduler: scheduler, waitMilliseconds: json["wait_ms"]?.int ?? 5_000,
            codes: try reader.codes(json) ?? [-1_009],
            methods: try reader.methods(json) ?? RetryPolicy.idempotentMethods)
    }

    // MARK: Adapters

    private func setHeader(_ json: JSON, path: @autoclosure () -> String) throws(RPCError) -> SetHeaderAdapter {
        let field = try field(json["name"]?.string ?? "", json["value"]?.string ?? "", path: path())
        guard !field.isNamed("host") else {
            throw .invalidParams(
                path: "\(path()).name", message: "Host cannot be set", expected: "the interceptor rewrite with host")
        }
        let mode = json["mode"]?.string.flatMap(SetHeaderAdapter.Mode.init(rawValue:))
        return SetHeaderAdapter(field, mode: mode ?? .replace)
    }

    private func field(_ name: String, _ value: String, path: @autoclosure () -> String) throws(RPCError) -> HTTPField {
        do throws(HTTPField.Refusal) {
            return try HTTPField(name: name, value: value)
        } catch {
            throw .invalidParams(
                path: path(), message: error.description, expected: "a header field that the client may send")
        }
    }

    private func basicAuthentication(_ json: JSON, path: @autoclosure () -> String) throws(RPCError) -> SetHeaderAdapter
    {
        let user = json["username"]?.string ?? ""
        guard let adapter = SetHeaderAdapter.basic(user: user, password: json["password"]?.string ?? "") else {
            throw .invalidParams(
                path: path(), message: "cannot be written as user:password",
                expected: "no colon in the username, no control characters")
        }
        return adapter
    }

    private func bearer(_ json: JSON, path: @autoclosure () -> String) throws(RPCError) -> SetHeaderAdapter {
        guard let adapter = SetHeaderAdapter.bearer(token: json["token"]?.string ?? "") else {
            throw InterceptorReader.badToken(path: "\(path()).token")
        }
        return adapter
    }

    private func rewrite(_ json: JSON, path: @autoclosure () -> String) throws(RPCError) -> RewriteAdapter {
        var parts = RewriteAdapter.Parts()
        parts.scheme = json["scheme"]?.string
        parts.port = json["port"]?.int.flatMap { UInt16(exactly: $0) }
        if let host = json["host"]?.string {
            guard let url = try? HTTPURL("http://\(host)/"), url.userInformation == nil,
                url.origin.host == host.lowercased() || InterceptorReader.isName(host)
            else {
                throw .invalidParams(
                    path: "\(path()).host", message: "not a host: \(host.prefix(64).debugDescription)",
                    expected: "a name or an address, without port; IPv6 in brackets")
            }
            parts.host = url.origin.host
        }
        if let prefix = json["path_prefix"]?.string {
            let isPath = prefix.hasPrefix("/") && !prefix.contains("?") && !prefix.contains("#")
            guard isPath, (try? HTTPURL("http://a.test\(prefix)")) != nil else {
                throw .invalidParams(
                    path: "\(path()).path_prefix", message: "not a path: \(prefix.prefix(64).debugDescription)",
                    expected: "a path that begins with /, without ? and #, percent-encoded")
            }
            parts.pathPrefix = prefix
        }
        json["query"]?["set"]?.forEachMember { parts.query.append(($0, $1.string ?? "")) }
        return RewriteAdapter(parts)
    }

    /// Whether it is nothing but a name with letters beyond ASCII, which becomes another text as a host.
    private static func isName(_ host: String) -> Bool {
        !host.utf8.allSatisfy { $0 < 0x80 }
            && !host.unicodeScalars.contains { "/?#@:%[]\\".unicodeScalars.contains($0) }
    }

    // MARK: Credentials

    private func oauth2(_ json: JSON, path: String) throws(RPCError) -> any RequestInterceptor {
        let reader = OAuth2Reader(json: json, path: path)
        if let callback = json["callback"] {
            let refresher = try callbacks.refresher(callback, path: "\(path).callback")
            return authentication(reader, refresher, try reader.credential())
        }
        let (url, client) = (try reader.url(), try reader.client())
        var fields: [HTTPField] = []
        try json["headers"]?.forEachMember { (name: String, value: JSON) throws(RPCError) in
            fields.append(try field(name, value.string ?? "", path: "\(path).headers.\(name)"))
        }
        try reader.check(client, fields)
        guard client.grant == .refreshToken else {
            let source = TokenSource(
                url: url, client: client, fields: fields, refreshBeforeMilliseconds: reader.refreshBeforeMilliseconds,
                window: reader.window, timeoutMilliseconds: reader.timeoutMilliseconds)
            return TokenInterceptor(source, in: tokens.tokens(of: uid))
        }
        let refresher = TokenEndpointRefresher(
            url: json["token_url"]?.string ?? "", client: client, fields: fields,
            timeoutMilliseconds: reader.timeoutMilliseconds, makeRequestID: tokens.makeRequestID)
        return authentication(reader, refresher, try reader.credential())
    }

    private func authentication(
        _ reader: OAuth2Reader, _ refresher: any CredentialRefresher, _ credential: OAuth2Credential?
    ) -> AuthenticationInterceptor {
        AuthenticationInterceptor(
            authenticator: OAuth2Authenticator(
                refresher: refresher, refreshBeforeMilliseconds: reader.refreshBeforeMilliseconds),
            credential: credential, window: reader.window, refreshTimeoutMilliseconds: reader.timeoutMilliseconds,
            scheduler: scheduler)
    }

    /// The credential of an object; `nil` of `null`. Also what `session.set_credential` takes.
    static func credential(_ json: JSON, path: String) throws(RPCError) -> OAuth2Credential? {
        guard !json.isNull else { return nil }
        let token = json["access_token"]?.string ?? ""
        guard SetHeaderAdapter.bearer(token: token) != nil else { throw badToken(path: "\(path).access_token") }
        var credential = OAuth2Credential(accessToken: token, refreshToken: json["refresh_token"]?.string)
        if let milliseconds = json["expires_in_ms"]?.integer {
            credential.expires = WallClock.microseconds() &+ milliseconds &* 1_000
        }
        return credential
    }

    /// Never shows the token.
    private static func badToken(path: String) -> RPCError {
        .invalidParams(
            path: path, message: "the token cannot stand in a header field",
            expected: "a token without blanks and control characters, not empty")
    }
}
