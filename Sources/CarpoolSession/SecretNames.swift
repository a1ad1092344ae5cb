public import CarpoolHTTP

/// The table of names whose values are secrets: of header fields, of parameters in a query, fragment or form, and of members in a
/// configuration. Everything that keeps secrets from other origins or other clients asks this table.
public enum SecretNames {
    /// Parts of names. Names are compared without case and without what separates words: `api_key`, `Api-Key` and `apiKey` are one.
    private static let parts = BytePatterns([
        "authorization", "cookie", "token", "secret", "passw", "passphrase", "passcode", "credential", "signature",
        "bearer", "jwt",
        "assertion", "hmac", "sessionid", "apikey", "appkey", "authkey", "accesskey", "privatekey", "masterkey",
        "accountkey", "sharedkey",
        "customerkey", "encryptionkey", "subscriptionkey", "functionskey", "servicekey", "codeverifier",
    ])

    /// Whole names, too short or too common to be looked for inside others.
    private static let names = BytePatterns([
        "auth", "xauth", "code", "authcode", "key", "sig", "pass", "pwd", "pw", "pin", "otp", "totp", "sid", "session",
        "ticket",
        "samlresponse", "samlrequest", "connectsid", "phpsessid", "jsessionid",
    ])

    /// Ends of names that say something about a secret, or where one is given: `token_url`, `token_type`, `signature_algorithm`.
    private static let harmlessEndings = BytePatterns([
        "url", "uri", "endpoint", "type", "algorithm", "expires", "expiresin", "expiry",
    ])

    /// Names, or parts of them, that hold one of ``parts`` for another reason.
    private static let harmlessParts = BytePatterns([
        "accesscontrol", "ratelimit", "maxtokens", "keepauthorization", "tokencount", "pagetoken", "continuationtoken",
    ])

    /// Words before `key` that make it a name of a thing, and no key to anything.
    private static let harmlessKeys = BytePatterns(
        [
            "idempotency", "cache", "surrogate", "partition", "sort", "primary", "foreign", "public", "routing",
            "websocket", "object",
        ].map { $0 + "key" })

    /// Whether the value that has this name is a secret.
    public static func contains(_ name: some StringProtocol) -> Bool { contains(utf8: Array(name.utf8)) }

    /// Whether the value is a secret that has the name of these bytes.
    static func contains(utf8 name: some BidirectionalCollection<UInt8>) -> Bool {
        let folded = folded(name)
        if folded.isEmpty || harmlessParts.haveOne(in: folded) { return false }
        if harmlessEndings.haveOne(atEndOf: folded) { return false }
        if names.haveOne(equalTo: folded) || parts.haveOne(in: folded) { return true }
        return endsInKey(name) && !harmlessKeys.haveOne(atEndOf: folded)
    }

    /// The letters and digits, in lower case.
    private static func folded(_ name: some Collection<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(name.count)
        for byte in name {
            switch byte {
            case 0x30...0x39, 0x61...0x7A: bytes.append(byte)
            case 0x41...0x5A: bytes.append(byte | 0x20)
            default: continue
            }
        }
        return bytes
    }

    /// Whether the last word is `key`: `X-Access-Key` and `masterKey`, but not `monkey`.
    private static func endsInKey(_ name: some BidirectionalCollection<UInt8>) -> Bool {
        guard name.last == UInt8(ascii: "y") || name.last == UInt8(ascii: "Y") else { return false }
        let bytes = Array(name.suffix(4))
        guard bytes.count == 4 else { return false }
        guard bytes[2] | 0x20 == UInt8(ascii: "e"), bytes[3] | 0x20 == UInt8(ascii: "y") else { return false }
        let isLetter = { (byte: UInt8) in (0x61...0x7A).contains(byte | 0x20) }
        if bytes[1] == UInt8(ascii: "K") { return !isLetter(bytes[0]) || bytes[0] >= 0x61 }
        return bytes[1] == UInt8(ascii: "k") && !isLetter(bytes[0])
    }
}

extension HTTPField {
    /// Whether the value is a secret, which only its owner and the origin it was made for should read.
    public var carriesSecret: Bool { SecretNames.contains(name) }
}
