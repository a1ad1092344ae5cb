internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// Reads `credential`, a user and a password, and `credentials`, a list of them. The value has passed the schema.
enum CredentialReader {
    static func credential(_ json: JSON, path: String) throws(RPCError) -> PasswordCredential {
        let user = try text(json["username"], path: "\(path).username")
        let password = try text(json["password"], path: "\(path).password")
        var schemes: Set<PasswordCredential.Scheme> = []
        for index in 0..<(json["schemes"]?.count ?? 0) {
            guard let name = json["schemes"]?[index: index]?.string else { continue }
            if let scheme = PasswordCredential.Scheme(rawValue: name) { schemes.insert(scheme) }
        }
        if schemes.isEmpty { schemes = [.basic, .digest] }
        // RFC 7617, section 2: the first colon ends the user.
        guard !user.contains(":") || !schemes.contains(.basic) else {
            throw .invalidParams(
                path: "\(path).username", message: "a colon",
                expected: "a user without a colon, or schemes [\"digest\"]")
        }
        let isPreemptive = json["preemptive"]?.bool ?? false
        guard !isPreemptive || schemes == [.basic] else {
            throw .invalidParams(
                path: "\(path).preemptive", message: "only Basic can be sent before a challenge",
                expected: "false, or schemes [\"basic\"]")
        }
        return PasswordCredential(user: user, password: password, schemes: schemes, isPreemptive: isPreemptive)
    }

    /// Reads a list of credentials, each for a host; `nil` for an empty one.
    static func list(_ json: JSON, path: String) throws(RPCError) -> CredentialList? {
        var entries: [CredentialList.Entry] = []
        for index in 0..<json.count {
            guard let element = json[index: index] else { continue }
            let place = "\(path)[\(index)]"
            entries.append(
                CredentialList.Entry(
                    host: try host(element["host"]?.string ?? "", path: "\(place).host"),
                    credential: try credential(element, path: place)))
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

    private static func text(_ json: JSON?, path: String) throws(RPCError) -> String {
        let text = json?.string ?? ""
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw .invalidParams(
                path: path, message: "a control character", expected: "text without control characters")
        }
        return text
    }
}
