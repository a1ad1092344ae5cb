extension AllowedCharacters {
    /// The characters that need no encoding anywhere in a URL or a form (RFC 3986, section 2.3).
    static let unreserved = AllowedCharacters(besidesAlphanumerics: "-._~")
}
