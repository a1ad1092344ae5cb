// What is printed of a credential tells nobody its tokens.
extension OAuth2Credential: CustomStringConvertible, CustomReflectable {
    /// What there is of it, and when it ends.
    public var description: String {
        let refresh = refreshToken == nil ? "no refresh token" : "a refresh token"
        return "OAuth2Credential(an access token, \(refresh), expires: \(expires.map { "\($0)" } ?? "unknown"))"
    }

    /// Nothing: a mirror would show the tokens.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
