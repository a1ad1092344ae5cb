internal import CarpoolHTTP

/// The use of one challenge of the Digest scheme for one credential: its requests are numbered.
final class DigestSession {
    let credential: PasswordCredential
    private let challenge: DigestChallenge
    private var nonce: String
    private var count = 0
    /// The hash of user, realm and password, which stays the same for all nonces of the algorithms without `-sess`.
    private let secret: String
    private let makeClientNonce: () -> String

    /// - Parameter makeClientNonce: makes random texts.
    init?(
        _ challenge: DigestChallenge, _ credential: PasswordCredential,
        makeClientNonce: @escaping () -> String = DigestSession.randomNonce
    ) {
        let identity = "\(credential.user):\(challenge.realm):\(credential.password)"
        guard let secret = challenge.algorithm.hash(identity) else { return nil }
        self.secret = secret
        self.challenge = challenge
        self.credential = credential
        self.makeClientNonce = makeClientNonce
        nonce = challenge.nonce
    }

    var realm: String { challenge.realm }

    /// Takes the nonce that the server wants for the next request (`nextnonce`).
    func use(nextNonce: String) {
        guard nextNonce != nonce else { return }
        nonce = nextNonce
        count = 0
    }

    /// Whether the challenge can be answered for a request with this body: its hash is known only for bytes in memory.
    static func canAnswer(_ challenge: DigestChallenge, for body: RequestBody) -> Bool {
        guard !challenge.protections.isEmpty, !challenge.protections.contains(.auth) else { return true }
        switch body {
        case .none, .bytes: return true
        case .file, .source: return false
        }
    }

    /// The value of the `Authorization` field of a request.
    func value(method: String, target: String, body: RequestBody) -> String? {
        count += 1
        let protection = challenge.protections.contains(.auth) ? .auth : challenge.protections.first
        let clientNonce = makeClientNonce()
        let number = String(count, radix: 16)
        let countText = String(repeating: "0", count: max(0, 8 - number.utf8.count)) + number
        guard let response = response(method, target, body, protection, clientNonce, countText) else { return nil }
        var parts = [
            "username=\(quoted(user))", "realm=\(quoted(challenge.realm))", "nonce=\(quoted(nonce))",
            "uri=\(quoted(target))", "response=\"\(response)\"",
        ]
        if let name = challenge.algorithmName { parts.append("algorithm=\(name)") }
        if let opaque = challenge.opaque { parts.append("opaque=\(quoted(opaque))") }
        if let protection { parts.append("qop=\(protection.rawValue)") }
        if protection != nil || challenge.algorithm.isOfSession { parts.append("cnonce=\"\(clientNonce)\"") }
        if protection != nil { parts.append("nc=\(countText)") }
        if challenge.hashesUser { parts.append("userhash=true") }
        return "Digest " + parts.joined(separator: ", ")
    }

    private var user: String {
        guard challenge.hashesUser else { return credential.user }
        return challenge.algorithm.hash("\(credential.user):\(challenge.realm)") ?? credential.user
    }

    /// The hash over everything (RFC 7616, section 3.4.1).
    private func response(
        _ method: String, _ target: String, _ body: RequestBody, _ protection: DigestChallenge.Protection?,
        _ clientNonce: String, _ countText: String
    ) -> String? {
        let algorithm = challenge.algorithm
        let first = algorithm.isOfSession ? algorithm.hash("\(secret):\(nonce):\(clientNonce)") : secret
        var request = "\(method):\(target)"
        if protection == .authInt {
            guard let hash = bodyHash(of: body) else { return nil }
            request += ":\(hash)"
        }
        guard let first, let second = algorithm.hash(request) else { return nil }
        guard let protection else { return algorithm.hash("\(first):\(nonce):\(second)") }
        return algorithm.hash("\(first):\(nonce):\(countText):\(clientNonce):\(protection.rawValue):\(second)")
    }

    private func bodyHash(of body: RequestBody) -> String? {
        switch body {
        case .none: challenge.algorithm.hash([])
        case .bytes(let bytes): challenge.algorithm.hash(bytes)
        case .file, .source: nil
        }
    }

    /// A quoted string (RFC 9110, section 5.6.4).
    private func quoted(_ text: String) -> String {
        var quoted = "\""
        for character in text.unicodeScalars {
            if character == "\"" || character == "\\" { quoted.append("\\") }
            quoted.unicodeScalars.append(character)
        }
        return quoted + "\""
    }

    private static func randomNonce() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<2).map { _ in String(random.next(), radix: 16) }.joined()
    }
}
