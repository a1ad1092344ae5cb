internal import CarpoolHTTP

/// The use of one challenge of the Digest scheme for one credential: its requests are numbered.
///
/// Everything is bytes: the server's values may be in any charset, and go back as they came.
final class DigestSession {
    let credential: PasswordCredential
    private let challenge: DigestChallenge
    private var nonce: [UInt8] { didSet { setParametersBeforeTarget() } }
    private var count = 0
    /// The hash of user, realm and password, which stays the same for all nonces of the algorithms without `-sess`.
    private let secret: [UInt8]
    /// The parameters that are the same in every answer: those before the nonce, and those behind the response.
    private let beginning: [UInt8]
    private let ending: [UInt8]
    /// Those up to the target, which are the same for a nonce.
    private var parametersBeforeTarget: [UInt8] = []
    private let protection: DigestChallenge.Protection?
    private let makeClientNonce: () -> [UInt8]

    /// - Parameter makeClientNonce: makes texts that the server does not know before; `nil` for random ones.
    init?(
        _ challenge: DigestChallenge, _ credential: PasswordCredential,
        makeClientNonce: (() -> [UInt8])? = nil
    ) {
        let user = Array(credential.user.utf8)
        let identity = user + DigestSession.colon + challenge.realm
        guard let secret = challenge.algorithm.hash(identity + DigestSession.colon + Array(credential.password.utf8))
        else { return nil }
        self.secret = secret
        self.challenge = challenge
        self.credential = credential
        self.makeClientNonce = makeClientNonce ?? DigestSession.clientNonces()
        nonce = challenge.nonce
        protection = challenge.protections.contains(.auth) ? .auth : challenge.protections.first
        let shown = challenge.hashesUser ? challenge.algorithm.hash(user + DigestSession.colon + challenge.realm) : user
        var text = Array("Digest username=".utf8)
        DigestSession.quote(shown ?? user, to: &text)
        text += ", realm=".utf8
        DigestSession.quote(challenge.realm, to: &text)
        beginning = text + ", nonce=".utf8
        text = []
        if let name = challenge.algorithmName { text += ", algorithm=\(name)".utf8 }
        if let opaque = challenge.opaque {
            text += ", opaque=".utf8
            DigestSession.quote(opaque, to: &text)
        }
        if let protection { text += ", qop=\(protection.rawValue)".utf8 }
        if challenge.hashesUser { text += ", userhash=true".utf8 }
        if protection != nil || challenge.algorithm.isOfSession { text += ", cnonce=\"".utf8 }
        ending = text
        setParametersBeforeTarget()
    }

    private func setParametersBeforeTarget() {
        parametersBeforeTarget = beginning
        DigestSession.quote(nonce, to: &parametersBeforeTarget)
        parametersBeforeTarget += ", uri=".utf8
    }

    /// The realm as text.
    var realm: String { ChallengeList.Parameter(name: "realm", bytes: challenge.realm).value }

    /// Takes the nonce that the server wants for the next request (`nextnonce`).
    func use(nextNonce: [UInt8]) {
        guard nextNonce != nonce, nextNonce.count <= DigestChallenge.maximumBytes else { return }
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
    func value(method: String, target: String, body: RequestBody) -> [UInt8]? {
        count += 1
        let clientNonce = makeClientNonce()
        let countText = DigestSession.hexadecimal(UInt64(count), digits: 8)
        guard let response = response(method, target, body, clientNonce, countText) else { return nil }
        var text: [UInt8] = []
        text.reserveCapacity(parametersBeforeTarget.count &+ target.utf8.count &+ ending.count &+ 192)
        text += parametersBeforeTarget
        DigestSession.quote(target.utf8, to: &text)
        text += ", response=\"".utf8
        text += response
        text.append(UInt8(ascii: "\""))
        text += ending
        if protection != nil || challenge.algorithm.isOfSession {
            text += clientNonce
            text.append(UInt8(ascii: "\""))
        }
        if protection != nil {
            text += ", nc=".utf8
            text += countText
        }
        return text
    }

    /// The hash over everything (RFC 7616, section 3.4.1).
    private func response(
        _ method: String, _ target: String, _ body: RequestBody, _ clientNonce: [UInt8], _ countText: [UInt8]
    ) -> [UInt8]? {
        let algorithm = challenge.algorithm
        var request: [UInt8] = []
        request.reserveCapacity(method.utf8.count &+ target.utf8.count &+ 1)
        request += method.utf8
        request += DigestSession.colon
        request += target.utf8
        if protection == .authInt {
            guard let hash = bodyHash(of: body) else { return nil }
            request += DigestSession.colon + hash
        }
        let first =
            algorithm.isOfSession
            ? algorithm.hash(secret + DigestSession.colon + nonce + DigestSession.colon + clientNonce) : secret
        guard let first, let second = algorithm.hash(request) else { return nil }
        var all: [UInt8] = []
        all.reserveCapacity(first.count &+ nonce.count &+ clientNonce.count &+ second.count &+ 32)
        all += first
        all += DigestSession.colon
        all += nonce
        if let protection {
            all += DigestSession.colon
            all += countText
            all += DigestSession.colon
            all += clientNonce
            all += DigestSession.colon
            all += protection.rawValue.utf8
        }
        all += DigestSession.colon
        all += second
        return algorithm.hash(all)
    }

    private func bodyHash(of body: RequestBody) -> [UInt8]? {
        switch body {
        case .none: challenge.algorithm.hash([])
        case .bytes(let bytes): challenge.algorithm.hash(bytes)
        case .file, .source: nil
        }
    }

    private static let colon = [UInt8(ascii: ":")]

    /// Appends a quoted string (RFC 9110, section 5.6.4).
    private static func quote(_ value: some Collection<UInt8>, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        guard value.contains(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) else {
            text.append(contentsOf: value)
            return text.append(UInt8(ascii: "\""))
        }
        for byte in value {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { text.append(UInt8(ascii: "\\")) }
            text.append(byte)
        }
        text.append(UInt8(ascii: "\""))
    }

    /// Makes different texts: a random beginning with a number behind it. A server that knows one can guess the next,
    /// but it cannot compute tables of passwords before it knows the beginning.
    private static func clientNonces() -> () -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        let beginning = hexadecimal(random.next() as UInt64, digits: 16)
        var count: UInt64 = 0
        return {
            count &+= 1
            return beginning + hexadecimal(count, digits: 8)
        }
    }

    /// At least so many digits.
    private static func hexadecimal(_ number: UInt64, digits: Int) -> [UInt8] {
        var digits = digits
        while digits < 16, number >> UInt64(4 &* digits) > 0 { digits += 1 }
        return [UInt8](unsafeUninitializedCapacity: digits) { text, count in
            for place in 0..<digits {
                text[place] = DigestAlgorithm.digit(
                    UInt8(truncatingIfNeeded: number >> UInt64(4 &* (digits &- 1 &- place))) & 15)
            }
            count = digits
        }
    }
}
