public import CarpoolHTTP

/// The table of names whose values are secrets: of header fields, of parameters in a query, fragment or form, and of members in a
/// configuration. Everything that keeps secrets from other origins or other clients asks this table.
public enum SecretNames {
    /// Parts of names. Names are compared without case and without what separates words: `api_key`, `Api-Key` and `apiKey` are one.
    private static let parts = [
        "authorization", "cookie", "token", "secret", "passw", "passphrase", "passcode", "credential", "signature",
        "bearer", "jwt",
        "assertion", "hmac", "sessionid", "apikey", "appkey", "authkey", "accesskey", "privatekey", "masterkey",
        "accountkey", "sharedkey",
        "customerkey", "encryptionkey", "subscriptionkey", "functionskey", "servicekey", "codeverifier",
    ]

    /// Whole names, too short or too common to be looked for inside others.
    private static let names: Set<String> = [
        "auth", "xauth", "code", "authcode", "key", "sig", "pass", "pwd", "pw", "pin", "otp", "totp", "sid", "session",
        "ticket",
        "samlresponse", "samlrequest", "connectsid", "phpsessid", "jsessionid",
    ]

    /// Ends of names that say something about a secret, or where one is given: `token_url`, `token_type`, `signature_algorithm`.
    private static let harmlessEndings = [
        "url", "uri", "endpoint", "type", "algorithm", "expires", "expiresin", "expiry",
    ]

    /// Names, or parts of them, that hold one of ``parts`` for another reason.
    private static let harmlessParts = [
        "accesscontrol", "ratelimit", "maxtokens", "keepauthorization", "tokencount", "pagetoken", "continuationtoken",
    ]

    /// Words before `key` that make it a name of a thing, and no key to anything.
    private static let harmlessKeys = [
        "idempotency", "cache", "surrogate", "partition", "sort", "primary", "foreign", "public", "routing",
        "websocket", "object",
    ]

    /// Whether the value that has this name is a secret.
    public static func contains(_ name: some StringProtocol) -> Bool {
        let folded = folded(name)
        if folded.isEmpty || harmlessParts.contains(where: folded.contains) { return false }
        if harmlessEndings.contains(where: folded.hasSuffix) { return false }
        if names.contains(folded) || parts.contains(where: folded.contains) { return true }
        return endsInKey(name) && !harmlessKeys.contains { folded.hasSuffix($0 + "key") }
    }

    /// The letters and digits, in lower case.
    private static func folded(_ name: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(name.utf8.count)
        for byte in name.utf8 {
            switch byte {
            case 0x30...0x39, 0x61...0x7A: bytes.append(byte)
            case 0x41...0x5A: bytes.append(byte | 0x20)
            default: continue
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the last word is `key`: `X-Access-Key` and `masterKey`, but not `monkey`.
    private static func endsInKey(_ name: some StringProtocol) -> Bool {
        let bytes = Array(name.utf8.suffix(4))
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
