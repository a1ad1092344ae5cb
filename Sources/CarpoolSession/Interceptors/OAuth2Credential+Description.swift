// The description of a credential does not contain its tokens.
extension OAuth2Credential: CustomStringConvertible, CustomReflectable {
    /// Which tokens exist, and when the access token expires.
    public var description: String {
        let refresh = refreshToken == nil ? "no refresh token" : "a refresh token"
        return "OAuth2Credential(an access token, \(refresh), expires: \(expires.map { "\($0)" } ?? "unknown"))"
    }

    /// Empty: a mirror would show the tokens.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
