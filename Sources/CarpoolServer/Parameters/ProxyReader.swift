internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// Reads `proxy`: the proxies of requests, and the hosts that are reached without one. The value has passed the schema.
struct ProxyReader {
    /// Reads the passwords.
    let passwords: PasswordReader

    /// The settings; `nil` for no proxy.
    func settings(_ json: JSON, path: String) throws(RPCError) -> ProxySettings? {
        guard json.kind == .object else {
            let proxy = try server(json, path: path)
            return proxy.map { ProxySettings(http: $0, https: $0) }
        }
        let exceptions = try exceptions(json["no_proxy"], path: "\(path).no_proxy")
        if json["environment"]?.bool == true { return try environment(json, exceptions, path: path) }
        let all = try server(json["all"], path: "\(path).all")
        let http = json["http"] == nil ? all : try server(json["http"], path: "\(path).http")
        let https = json["https"] == nil ? all : try server(json["https"], path: "\(path).https")
        guard http != nil || https != nil else { return nil }
        return ProxySettings(http: http, https: https, exceptions: exceptions)
    }

    /// The proxies of a program's environment: a variable that is not the URL of a proxy fails only requests that
    /// need it.
    private func environment(
        _ json: JSON, _ exceptions: ProxyExceptions, path: String
    ) throws(RPCError) -> ProxySettings? {
        var proxies: [String: Proxy] = [:]
        var refusals: [String: String] = [:]
        for scheme in ["http", "https"] {
            let member = json[scheme] == nil ? "all" : scheme
            guard let given = json[member] else { continue }
            let text = given.kind == .object ? given["url"]?.string : given.string
            guard let text, !text.isEmpty else { continue }
            let address: Proxy.Address
            do throws(Proxy.Refusal) { address = try Proxy.Address(text, ignoresPath: true) } catch {
                refusals[scheme] = error.message
                continue
            }
            proxies[scheme] = try server(given, at: address, path: "\(path).\(member)")
        }
        let replacesExceptions = json["no_proxy_in_session"]?.bool ?? false
        guard !proxies.isEmpty || !refusals.isEmpty || replacesExceptions else { return nil }
        return ProxySettings(
            http: proxies["http"], https: proxies["https"], exceptions: exceptions,
            precedence: replacesExceptions ? .exceptions : .none, refusals: refusals)
    }

    private func server(_ json: JSON?, path: String) throws(RPCError) -> Proxy? {
        guard let json else { return nil }
        let isObject = json.kind == .object
        let url = (isObject ? json["url"]?.string : json.string) ?? ""
        let place = isObject ? "\(path).url" : path
        guard !url.isEmpty else {
            if !isObject { return nil }
            throw .invalidParams(path: place, message: "empty", expected: ProxyReader.urlForm)
        }
        return try server(json, at: try address(url, path: place), path: path)
    }

    /// A proxy with this address, and the other members of an object.
    private func server(
        _ json: JSON, at address: Proxy.Address, path: String
    ) throws(RPCError) -> Proxy {
        guard json.kind == .object else { return proxy(address, nil, [.basic], tunnels: false, nil) }
        let tunnels = json["tunnel"]?.bool ?? false
        return proxy(
            address, try credential(json, of: address, path: path), schemes(json["schemes"]),
            tunnels: tunnels && !address.kind.isSOCKS,
            try preproxy(json["preproxy"]?.string, of: address, path: "\(path).preproxy"))
    }

    private func schemes(_ json: JSON?) -> Set<Proxy.Scheme> {
        let names = (0..<(json?.count ?? 0)).compactMap { json?[index: $0]?.string }
        let schemes = Set(names.compactMap(Proxy.Scheme.init(rawValue:)))
        return schemes.isEmpty ? [.basic] : schemes
    }

    private func proxy(
        _ address: Proxy.Address, _ credential: Proxy.Credential?, _ schemes: Set<Proxy.Scheme>, tunnels: Bool,
        _ preproxy: Proxy?
    ) -> Proxy {
        Proxy(
            kind: address.kind, host: address.host, port: address.port, credential: credential ?? address.credential,
            schemes: schemes, tunnelsEverything: tunnels, preproxy: preproxy)
    }

    private static let urlForm = "[scheme://][user:password@]host[:port], such as http://proxy.example.com:3128"

    private func address(_ text: String, path: String) throws(RPCError) -> Proxy.Address {
        do throws(Proxy.Refusal) { return try Proxy.Address(text) } catch {
            throw .invalidParams(path: path, message: error.message, expected: ProxyReader.urlForm)
        }
    }

    private func credential(
        _ json: JSON, of address: Proxy.Address, path: String
    ) throws(RPCError) -> Proxy.Credential? {
        let user = json["username"]?.string
        guard user != nil || json["password"] != nil else { return nil }
        if let user { _ = try PasswordReader.checked(user, path: "\(path).username") }
        let password =
            json["password"] == nil ? nil : try passwords.password(json["password"], path: "\(path).password")
        let name = user ?? address.credential?.user ?? ""
        // Basic has a colon between the two (RFC 7617, section 2).
        guard !name.contains(":") || address.kind.isSOCKS else {
            throw .invalidParams(
                path: "\(path).username", message: "a colon", expected: "a user name without a colon")
        }
        return Proxy.Credential(user: name, password: password ?? address.credential?.password ?? "")
    }

    private func preproxy(
        _ text: String?, of address: Proxy.Address, path: String
    ) throws(RPCError) -> Proxy? {
        guard let text, !text.isEmpty else { return nil }
        let first = try self.address(text, path: path)
        guard first.credential == nil else {
            throw .invalidParams(
                path: path, message: "a user and a password, which libcurl would send to the HTTP proxy too",
                expected: "a SOCKS proxy that requires none")
        }
        guard first.kind.isSOCKS, !address.kind.isSOCKS else {
            throw .invalidParams(
                path: path, message: "not a SOCKS proxy before an HTTP proxy",
                expected: "the URL of a SOCKS proxy, and an HTTP or HTTPS proxy behind it")
        }
        return proxy(first, nil, [.basic], tunnels: false, nil)
    }

    private func exceptions(_ json: JSON?, path: String) throws(RPCError) -> ProxyExceptions {
        guard let json else { return ProxyExceptions() }
        if let text = json.string {
            if let exceptions = ProxyExceptions(variable: text) { return exceptions }
            throw .invalidParams(
                path: path, message: "more than \(ProxyExceptions.maximumCount) hosts",
                expected: "at most \(ProxyExceptions.maximumCount), or networks and names of domains in their place")
        }
        var exceptions = ProxyExceptions()
        for index in 0..<json.count {
            do throws(HostPattern.Refusal) { try exceptions.add(json[index: index]?.string ?? "") } catch {
                throw .invalidParams(
                    path: "\(path)[\(index)]", message: error.message,
                    expected: "a host, an address, a network such as 10.0.0.0/8, or *")
            }
        }
        return exceptions
    }
}
