public import CarpoolHTTP

/// The table of names whose values are secrets: of header fields, of parameters in a query, fragment or form, and of
/// members in a configuration. Everything that keeps secrets from other origins or other clients uses this table.
public enum SecretNames {
    /// Parts of names. Names are compared without case and without word separators: `api_key`, `Api-Key` and `apiKey`
    /// are the same.
    private static let parts = BytePatterns([
        "authorization", "cookie", "token", "secret", "passw", "passphrase", "passcode", "credential", "signature",
        "bearer", "jwt",
        "assertion", "hmac", "sessionid", "apikey", "appkey", "authkey", "accesskey", "privatekey", "masterkey",
        "accountkey", "sharedkey",
        "customerkey", "encryptionkey", "subscriptionkey", "functionskey", "servicekey", "codeverifier",
    ])

    /// Whole names, too short or too common to match inside others.
    private static let names = BytePatterns([
        "auth", "xauth", "code", "authcode", "key", "sig", "pass", "pwd", "pw", "pin", "otp", "totp", "sid", "session",
        "ticket",
        "samlresponse", "samlrequest", "connectsid", "phpsessid", "jsessionid",
    ])

    /// Endings of names that describe a secret, or where one is issued: `token_url`, `token_type`,
    /// `signature_algorithm`.
    private static let harmlessEndings = BytePatterns([
        "url", "uri", "endpoint", "type", "algorithm", "expires", "expiresin", "expiry",
    ])

    /// Names, or parts of them, that contain one of ``parts`` for another reason.
    private static let harmlessParts = BytePatterns([
        "accesscontrol", "ratelimit", "maxtokens", "keepauthorization", "tokencount", "pagetoken", "continuationtoken",
    ])

    /// Words before `key` that make it the name of a thing, and not a secret.
    private static let harmlessKeys = BytePatterns(
        [
            "idempotency", "cache", "surrogate", "partition", "sort", "primary", "foreign", "public", "routing",
            "websocket", "object",
        ].map { $0 + "key" })

    /// Whether the value of this name is a secret.
    public static func contains(_ name: some StringProtocol) -> Bool {
        var name = String(name)
        return name.withUTF8 { contains(utf8: $0) }
    }

    /// Whether the value of the name with these bytes is a secret.
    static func contains(utf8 name: UnsafeBufferPointer<UInt8>) -> Bool {
        withFolded(name) { folded in
            if folded.isEmpty || harmlessParts.matches(in: folded) { return false }
            if harmlessEndings.matches(atEndOf: folded) { return false }
            if names.matches(equalTo: folded) || parts.matches(in: folded) { return true }
            return endsInKey(name) && !harmlessKeys.matches(atEndOf: folded)
        }
    }

    /// Calls the body with the letters and digits of a name, in lower case.
    private static func withFolded(
        _ name: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Bool
    ) -> Bool {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: name.count) { bytes in
            var count = 0
            for byte in name {
                switch byte {
                case 0x30...0x39, 0x61...0x7A: bytes[count] = byte
                case 0x41...0x5A: bytes[count] = byte | 0x20
                default: continue
                }
                count += 1
            }
            return body(UnsafeBufferPointer(rebasing: bytes[..<count]))
        }
    }

    /// Whether the last word is `key`: `X-Access-Key` and `masterKey`, but not `monkey`.
    private static func endsInKey(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard name.count >= 4 else { return false }
        let last = UnsafeBufferPointer(rebasing: name.suffix(4))
        guard last[2] | 0x20 == UInt8(ascii: "e"), last[3] | 0x20 == UInt8(ascii: "y") else { return false }
        let isLetter = (0x61...0x7A).contains(last[0] | 0x20)
        if last[1] == UInt8(ascii: "K") { return !isLetter || last[0] >= 0x61 }
        return last[1] == UInt8(ascii: "k") && !isLetter
    }
}

extension HTTPField {
    /// Whether the value is a secret, which only its owner and its origin may read.
    public var carriesSecret: Bool { SecretNames.contains(name) }
}
