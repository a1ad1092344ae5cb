internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// Reads `credential`, a user and a password, and `credentials`, a list of them. The values have passed their schemas.
struct CredentialReader {
    /// Reads the passwords.
    let passwords: PasswordReader

    /// The credentials of a session by protection space.
    func credentials(_ json: JSON, path: String) throws(RPCError) -> SessionCredentials {
        var credentials = SessionCredentials()
        for index in 0..<json.count {
            guard let member = json[index: index] else { continue }
            let place = "\(path)[\(index)]"
            let space = try CredentialReader.space({ member[$0] }, path: place)
            let credential = try credential({ member[$0] }, path: place)
            try CredentialReader.check(credential, in: space, path: place)
            guard credentials.set(SessionCredentials.Entry(credential, for: space)) == nil else {
                throw .invalidParams(
                    path: place, message: "the same host, port, scheme and realm as an entry before it",
                    expected: "one entry for each")
            }
        }
        return credentials
    }

    /// Where a credential of a session is valid.
    static func space(_ member: (StaticString) -> JSON?, path: String) throws(RPCError) -> ProtectionSpace {
        do throws(HostPattern.Refusal) {
            return try ProtectionSpace(
                host: member("host")?.string ?? "", port: member("port")?.int.flatMap { UInt16(exactly: $0) },
                scheme: member("scheme")?.string, realm: member("realm")?.string)
        } catch {
            throw .invalidParams(
                path: "\(path).host", message: error.message, expected: "a name or an address, without a port")
        }
    }

    /// Refuses a credential that would be sent to a realm before the server has named it.
    static func check(
        _ credential: PasswordCredential, in space: ProtectionSpace, path: String
    ) throws(RPCError) {
        guard credential.isPreemptive, space.realm != nil else { return }
        throw .invalidParams(
            path: "\(path).preemptive", message: "the realm is not known before a challenge",
            expected: "false, or no realm")
    }

    /// A user and a password.
    func credential(
        _ member: (StaticString) -> JSON?, path: String
    ) throws(RPCError) -> PasswordCredential {
        let user = try PasswordReader.checked(member("username")?.string ?? "", path: "\(path).username")
        let password = try passwords.password(member("password"), path: "\(path).password")
        var schemes: Set<PasswordCredential.Scheme> = []
        let names = member("schemes")
        for index in 0..<(names?.count ?? 0) {
            guard let name = names?[index: index]?.string else { continue }
            if let scheme = PasswordCredential.Scheme(rawValue: name) { schemes.insert(scheme) }
        }
        if schemes.isEmpty { schemes = [.basic, .digest] }
        // RFC 7617, section 2: the first colon ends the user.
        guard !user.contains(":") || !schemes.contains(.basic) else {
            throw .invalidParams(
                path: "\(path).username", message: "a colon",
                expected: "a user without a colon, or schemes [\"digest\"]")
        }
        let isPreemptive = member("preemptive")?.bool ?? false
        guard !isPreemptive || schemes == [.basic] else {
            throw .invalidParams(
                path: "\(path).preemptive", message: "only Basic can be sent before a challenge",
                expected: "false, or schemes [\"basic\"]")
        }
        return PasswordCredential(user: user, password: password, schemes: schemes, isPreemptive: isPreemptive)
    }

    /// Reads a list of credentials, each for a host; `nil` for an empty one.
    func list(_ json: JSON, path: String) throws(RPCError) -> CredentialList? {
        var entries: [CredentialList.Entry] = []
        for index in 0..<json.count {
            guard let element = json[index: index] else { continue }
            let place = "\(path)[\(index)]"
            entries.append(
                CredentialList.Entry(
                    host: try CredentialReader.host(element["host"]?.string ?? "", path: "\(place).host"),
                    credential: try credential({ element[$0] }, path: place)))
        }
        return entries.isEmpty ? nil : CredentialList(entries)
    }

    /// A host; `nil` for `*`.
    private static func host(_ text: String, path: String) throws(RPCError) -> String? {
        if text == "*" { return nil }
        guard !text.hasPrefix("*"), let pattern = try? HostPattern(text), pattern.port == nil else {
            throw .invalidParams(
                path: path, message: "not a host: \(String(text.prefix(64)).debugDescription)",
                expected: "a host without a port, an IPv6 address in brackets, or *")
        }
        return pattern.host
    }
}
