internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolSystem

/// The settings of the connection that a request would use, as lines of text with the place where each was set.
struct ConnectionPlanReport {
    private let plan: JSON
    private(set) var text = ""

    /// Where a credential of the request comes from.
    private let credentialPlace: String

    /// The variable of the environment that names authorities.
    private let trustVariable: String?

    /// Whether the body is printed while it arrives.
    private let printsWhileItArrives: Bool

    /// Reads the answer of `request.explain`.
    init(
        _ plan: JSON, credentialPlace: String = "command line", trustVariable: String? = nil,
        printsWhileItArrives: Bool = false
    ) {
        self.printsWhileItArrives = printsWhileItArrives
        self.plan = plan
        self.credentialPlace = credentialPlace
        self.trustVariable = trustVariable
        add("url", plan["url"]?.string ?? "")
        let session = plan["session"]?.string ?? ""
        add("session", plan["declared_in"]?.string.map { "\(session), declared in \($0)" } ?? session)
        if plan["trust"]?.kind == .object { addTLS() } else { add("tls", "none: the URL is http") }
        add("host", plan["host"]?["value"]?.string ?? "", "host")
        addAddresses()
        addCredential()
        addCookies()
        addProxy()
        addPool()
    }

    /// Adds a line; `member` is the setting whose source follows.
    private mutating func add(_ name: String, _ value: String, _ member: String? = nil) {
        let padding = String(repeating: " ", count: max(1, 13 - name.utf8.count))
        let place = member.map { " (\(source(of: $0)))" } ?? ""
        text += "\(name)\(padding)\(PlainText.escaped(value))\(place)\n"
    }

    private func source(of member: String) -> String {
        switch plan[member]?["source"]?.string {
        case "request": member == "credential" ? credentialPlace : "command line"
        case "session": "session"
        case "environment": member == "trust" ? "environment: \(trustVariable ?? "")" : "environment"
        default: "default"
        }
    }

    private static func list(_ json: JSON?) -> String {
        guard let json else { return "" }
        return (0..<json.count).compactMap { json[index: $0]?.string }.joined(separator: ", ")
    }

    private mutating func addTLS() {
        let trust = plan["trust"]
        let isVerified = trust?["verified"]?.bool ?? true
        let authorities = ConnectionPlanReport.list(trust?["authorities"])
        let judges = authorities.isEmpty ? "no authorities: the evaluator alone decides" : authorities
        add("trust", isVerified ? judges : "every server: nothing is verified", "trust")
        let evaluator = trust?["evaluator"]
        switch evaluator?["kind"]?.string {
        case nil: break
        case "missing"?:
            add("evaluator", "missing: no pattern has this host, and every certificate is refused", "trust")
        case let kind?:
            let parts = ConnectionPlanReport.list(evaluator?["parts"])
            let shown = parts.isEmpty ? kind : "\(kind) (\(parts))"
            add("evaluator", "\(shown) of \(evaluator?["pattern"]?.string ?? "")", "trust")
        }
        let tls = plan["tls"]
        var versions = "\(tls?["min_version"]?.string ?? "") to \(tls?["max_version"]?.string ?? "")"
        for name in ["ciphers", "tls13_ciphers"] {
            if let list = tls?[name]?.string { versions += ", \(name) \(list)" }
        }
        add("tls", versions, "tls")
        let certificate = plan["client_certificate"]?["certificate"]
        let subject = certificate?["subject"]?.string
        let end = certificate?["not_after"]?.string ?? ""
        add("certificate", subject.map { "\($0), valid until \(end)" } ?? "none", "client_certificate")
    }

    private mutating func addAddresses() {
        let addresses = plan["addresses"]
        if let path = addresses?["unix_socket"]?.string {
            add("address", "unix:\(path)", "addresses")
            return
        }
        var line = "\(addresses?["host"]?.string ?? ""), port \(addresses?["port"]?.integer ?? 0)"
        if let resolved = addresses?["resolve"] { line += ", at \(ConnectionPlanReport.list(resolved))" }
        for (name, words) in [("interface", "interface"), ("local_address", "from"), ("family", "only")] {
            if let value = addresses?[name]?.string { line += ", \(words) \(value)" }
        }
        add("address", line, "addresses")
    }

    private mutating func addCredential() {
        let credential = plan["credential"]
        if credential?["own_field"]?.bool == true {
            return add("credential", "the field Authorization, which is sent as it is")
        }
        if credential?["in_url"]?.bool == true {
            return add("credential", "user and password of the URL, basic, at once")
        }
        if let spaces = credential?["spaces"] {
            for index in 0..<spaces.count { spaces[index: index].map { addCredential(of: $0) } }
            return
        }
        guard let user = credential?["user"]?.string else { return add("credential", "none", "credential") }
        add("credential", "user \(user), \(use(of: credential))", "credential")
    }

    private func use(of credential: JSON?) -> String {
        let time = credential?["preemptive"]?.bool == true ? "at once" : "when the server asks"
        return "\(ConnectionPlanReport.list(credential?["schemes"])), \(time)"
    }

    /// Adds a credential of the session.
    private mutating func addCredential(of space: JSON) {
        let scheme = space["scheme"]?.string.map { "\($0)://" } ?? ""
        let port = space["port"]?.integer.map { ":\($0)" } ?? ""
        let realm = space["realm"]?.string.map { ", realm \"\($0)\"" } ?? ", every realm"
        let place = space["set_by"]?.string == "configuration" ? "session" : "session, credentials.set"
        let server = "\(scheme)\(space["host"]?.string ?? "")\(port)\(realm)"
        add("credential", "user \(space["username"]?.string ?? "") for \(server), \(use(of: space)) (\(place))")
    }

    private mutating func addCookies() {
        let cookies = plan["cookies"]
        if cookies?["own_field"]?.bool == true { return add("cookies", "the field Cookie of the command line") }
        let names = ConnectionPlanReport.list(cookies?["names"])
        let isWithoutJar = cookies?["source"]?.string ?? "default" == "default"
        add("cookies", names.isEmpty ? isWithoutJar ? "none: no jar" : "none" : names, "cookies")
    }

    private mutating func addProxy() {
        let proxy = plan["proxy"]
        guard let server = proxy?["server"]?.string else {
            let isException = proxy?["exception"]?.bool ?? false
            return add("proxy", isException ? "none: the host is in no_proxy" : "none", "proxy")
        }
        var line = server
        if let user = proxy?["user"]?.string { line += ", as \(user)" }
        if let schemes = proxy?["schemes"] { line += ", \(ConnectionPlanReport.list(schemes))" }
        if proxy?["tunnel"]?.bool == true { line += ", by a tunnel" }
        if let preproxy = proxy?["preproxy"]?.string { line += ", through \(preproxy)" }
        add("proxy", line, "proxy")
    }

    private mutating func addPool() {
        let pool = plan["pool"]
        let (open, idle) = (pool?["connections"]?.integer ?? 0, pool?["idle"]?.integer ?? 0)
        let settings = ConnectionPlanReport.list(pool?["settings"])
        let shared = settings.isEmpty ? "" : "; shared only by requests with the same \(settings)"
        add("connections", "\(open) open, \(idle) idle\(shared)")
        switch pool?["sharing"]?.string {
        case "multiplexed"?: add("sharing", "a connection carries many requests at once, if the server speaks HTTP/2")
        case "sequential"?: add("sharing", "a connection carries one request at a time, then the next one")
        case "separate"? where printsWhileItArrives:
            add(
                "sharing",
                "not with requests that HTTP/2 sends at once, because whatever reads the output may be slow; --whole shares them"
            )
        case "separate"?: add("sharing", "only with streams, downloads and uploads, which may be long")
        default: break
        }
    }
}
