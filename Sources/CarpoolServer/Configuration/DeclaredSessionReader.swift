internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC

/// Reads the member `sessions` of the configuration file and the files that the sessions name. May block.
struct DeclaredSessionReader {
    private var files: ConfigurationFiles
    /// Client certificates by their parameters: to decrypt a key can take a second.
    private var certificates: [[UInt8]: ClientCertificateNames.Reading] = [:]
    private let maximumCount: Int

    init(_ limits: Limits) {
        files = ConfigurationFiles(limit: limits.declaredSessionFileBytes)
        maximumCount = limits.declaredSessions
    }

    /// Returns the sessions in the order of the file.
    mutating func sessions(_ json: JSON) throws(JSONError) -> [DeclaredSession] {
        guard json.count <= maximumCount else {
            throw .refused(
                "declares \(json.count) sessions", path: "configuration.sessions",
                expected: "at most \(maximumCount) (limits.declared_sessions)")
        }
        var sessions: [DeclaredSession] = []
        try json.forEachMember { (name: String, configuration: JSON) throws(JSONError) in
            sessions.append(try session(name, configuration))
        }
        return sessions
    }

    private mutating func session(_ name: String, _ json: JSON) throws(JSONError) -> DeclaredSession {
        guard SessionName.isOne(name) else {
            throw .refused(
                "\(name.prefix(64).debugDescription) is not a session's name", path: "configuration.sessions",
                expected: SessionName.rule)
        }
        let path = DeclaredSession.path(of: name)
        var secrets = SecretFiles(path: path)
        try secrets.resolve(json, from: &files)
        let resolved = try JSON.parse(secrets.resolved)
        try JSONSchema.sessionConfiguration.validate(resolved, path: path)
        var text = JSONWriter()
        text.value(json)
        return DeclaredSession(
            name: name, text: text.bytes, resolved: secrets.resolved, shown: secrets.shown,
            hiddenFields: secrets.fields.sorted(),
            hasPersistentCookies: resolved["cookies"]?["persistent"]?.bool ?? false,
            files: try read(CallFileNames(configuration: resolved, path: path), of: resolved))
    }

    /// Reads the files that a call of `session.create` would name too. Those with other rules than a call's come from
    /// ``ConfigurationFiles``.
    private mutating func read(_ names: CallFileNames, of json: JSON) throws(JSONError) -> CallFiles.Found {
        var found = CallFiles.Found()
        for name in names.trust { found.trust[name.place] = try files.material(name) }
        if let certificate = names.clientCertificate {
            found.clientCertificate = try read(certificate, of: json["client_certificate"])
        }
        return found
    }

    private mutating func read(
        _ names: ClientCertificateNames, of json: JSON?
    ) throws(JSONError) -> ClientCertificateNames.Reading {
        var text = JSONWriter()
        if let json { text.value(json) }
        if let known = certificates[text.bytes] { return known }
        var contents: [String: [UInt8]] = [:]
        for (name, isSecret) in names.secrecy {
            do throws(ConfigurationFiles.Refusal) {
                contents[name.place] = try files.certificate(
                    at: name.path, isSecret: isSecret, atMost: ClientCertificate.maximumBytes)
            } catch {
                throw .refused(error.message, path: name.place, expected: error.expected)
            }
        }
        let reading = names.read([:]) { name, _ in contents[name.place] ?? [] }
        certificates[text.bytes] = reading
        return reading
    }
}
