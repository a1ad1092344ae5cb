public import CarpoolHTTP

extension HTTPField {
    /// Whether the value is a secret that only its owner should read again.
    public var carriesSecret: Bool {
        isNamed("authorization") || isNamed("cookie") || isNamed("cookie2") || isNamed("x-api-key")
            || isNamed("x-auth-token")
    }
}
