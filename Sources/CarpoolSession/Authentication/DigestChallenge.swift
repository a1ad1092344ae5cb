/// A challenge of the Digest scheme (RFC 7616, section 3.3).
struct DigestChallenge: Equatable {
    /// What the hash covers.
    enum Protection: String {
        /// The request's method and target.
        case auth
        /// The body as well.
        case authInt = "auth-int"
    }

    /// The bytes that the server has sent: it gets them back, and hashes them.
    let realm: [UInt8]
    let nonce: [UInt8]
    let opaque: [UInt8]?
    let algorithm: DigestAlgorithm
    /// The name of the algorithm as the server writes it; `nil` if it names none.
    let algorithmName: String?
    /// Those that the server accepts; empty for a server of RFC 2069, which knows none.
    let protections: [Protection]
    /// Whether the credential was right, and only the nonce too old.
    let isStale: Bool
    /// Whether the user is sent as a hash.
    let hashesUser: Bool

    /// The most bytes of the parameters of a challenge: they are sent back, and kept for later requests.
    static let maximumBytes = 2_048

    /// The challenge, if its algorithm and one of its protections are known, and it has a nonce.
    init?(_ challenge: ChallengeList.Challenge) {
        func bytes(_ name: String) -> [UInt8]? { challenge.parameters.first { $0.name == name }?.bytes }
        func value(_ name: String) -> String? { challenge.parameters.first { $0.name == name }?.value }
        guard challenge.scheme == "digest", let nonce = bytes("nonce"),
            let algorithm = DigestAlgorithm(name: value("algorithm")),
            challenge.parameters.reduce(0, { $0 + $1.bytes.count }) <= DigestChallenge.maximumBytes
        else { return nil }
        let offered = value("qop")?.split(whereSeparator: { $0 == "," || $0.isWhitespace }) ?? []
        protections = offered.compactMap { Protection(rawValue: $0.lowercased()) }
        guard offered.isEmpty || !protections.isEmpty else { return nil }
        self.nonce = nonce
        self.algorithm = algorithm
        algorithmName = value("algorithm")
        realm = bytes("realm") ?? []
        opaque = bytes("opaque")
        isStale = value("stale")?.lowercased() == "true"
        hashesUser = value("userhash")?.lowercased() == "true"
    }
}
