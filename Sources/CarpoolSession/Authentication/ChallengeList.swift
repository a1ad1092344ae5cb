/// The challenges of a `WWW-Authenticate` field (RFC 9110, section 11.6.1).
///
/// Commas separate both challenges and parameters: a token without `=`, or with a blank before it, begins a challenge.
struct ChallengeList {
    /// One challenge.
    struct Challenge: Equatable {
        /// The scheme, in lower case.
        let scheme: String
        /// Names, in lower case, and values without their quotes and escapes.
        var parameters: [Parameter] = []

        /// The realm; empty if it has no name.
        var realm: String { parameters.first { $0.name == "realm" }?.value ?? "" }

        /// The scheme as it is shown, with the algorithm of Digest.
        var offer: String {
            let algorithm = scheme == "digest" ? parameters.first { $0.name == "algorithm" }?.value : nil
            return String((algorithm.map { "\(scheme) with \($0)" } ?? scheme).prefix(Challenge.offerCharacters))
        }

        /// Maximum length of an offer: the text is the server's.
        private static let offerCharacters = 64
    }

    /// One parameter of a challenge.
    struct Parameter: Equatable {
        let name: String
        /// The value as the server sends it, in any charset.
        fileprivate(set) var bytes: [UInt8]

        /// The value as text: ISO 8859-1 if it is not UTF-8.
        var value: String {
            String(validating: bytes, as: UTF8.self)
                ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        }
    }

    private var rest: ArraySlice<UInt8>
    private var challenges: [Challenge] = []

    /// The most challenges of a response, and the most bytes of their fields, or of one that says more about one of
    /// them: they are parsed in one turn of the loop.
    private static let maximumCount = 16
    private static let maximumBytes = 16_384

    /// Parses the challenges of a response's fields, up to the limits.
    static func parse(_ fields: [[UInt8]]) -> [Challenge] {
        var challenges: [Challenge] = []
        var left = maximumBytes
        for field in fields where left > 0 && challenges.count < maximumCount {
            challenges += parse(field.prefix(left))
            left -= field.count
        }
        return Array(challenges.prefix(maximumCount))
    }

    /// Parses the challenges of a field's value, up to the limits. Invalid text is skipped up to the next comma.
    static func parse(_ field: some Sequence<UInt8>) -> [Challenge] {
        var list = ChallengeList(rest: Array(field.prefix(maximumBytes))[...])
        while !list.rest.isEmpty, list.challenges.count <= maximumCount { list.parseElement() }
        return Array(list.challenges.prefix(maximumCount))
    }

    private init(rest: ArraySlice<UInt8>) { self.rest = rest }

    private mutating func parseElement() {
        skip { $0 == UInt8(ascii: ",") || ChallengeList.isBlank($0) }
        let token = self.token()
        guard !token.isEmpty else { return skipToComma() }
        let hasBlank = skip(ChallengeList.isBlank) > 0
        if rest.first == UInt8(ascii: "=") {
            addParameter(token)
            return skipToComma()
        }
        if !hasBlank, continuesQualities(token) { return skipToComma() }
        challenges.append(Challenge(scheme: token.lowercased()))
        // The first parameter follows its scheme without a comma; a token68 has no name and is skipped.
        guard hasBlank else { return skipToComma() }
        let name = self.token()
        skip(ChallengeList.isBlank)
        if rest.first == UInt8(ascii: "=") { addParameter(name) }
        skipToComma()
    }

    /// Adds a token to `qop` of Digest if it is the rest of a list without its quotes, as some servers send it:
    /// `qop=auth,auth-int`. Returns whether it is.
    private mutating func continuesQualities(_ token: String) -> Bool {
        guard ["auth", "auth-int"].contains(token.lowercased()), let last = challenges.indices.last,
            let quality = challenges[last].parameters.indices.last, challenges[last].parameters[quality].name == "qop"
        else { return false }
        // In place: there may be thousands of them.
        challenges[last].parameters[quality].bytes += ",\(token)".utf8
        return true
    }

    /// Reads what follows a parameter's name, and adds the parameter to the last challenge, if there is one. A token68
    /// may end with `==`, and is not a parameter.
    private mutating func addParameter(_ name: String) {
        rest = rest.dropFirst()
        skip(ChallengeList.isBlank)
        let isToken68 = rest.first == UInt8(ascii: "=")
        let value = rest.first == UInt8(ascii: "\"") ? quotedString() : Array(tokenBytes())
        guard let last = challenges.indices.last, !name.isEmpty, !isToken68 else { return }
        challenges[last].parameters.append(Parameter(name: name.lowercased(), bytes: value))
    }

    /// Reads a quoted string without quotes and backslashes (RFC 9110, section 5.6.4); an unterminated one ends with
    /// the field.
    private mutating func quotedString() -> [UInt8] {
        rest = rest.dropFirst()
        var bytes: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            if let escaped = rest.popFirst() { bytes.append(escaped) }
        }
        return bytes
    }

    private mutating func token() -> String { String(decoding: tokenBytes(), as: UTF8.self) }

    private mutating func tokenBytes() -> ArraySlice<UInt8> {
        let token = rest.prefix { !ChallengeList.isBlank($0) && !ChallengeList.separators.contains($0) }
        rest = rest[token.endIndex...]
        return token
    }

    private mutating func skipToComma() {
        while let byte = rest.first, byte != UInt8(ascii: ",") {
            if byte == UInt8(ascii: "\"") { _ = quotedString() } else { rest = rest.dropFirst() }
        }
        rest = rest.dropFirst()
    }

    @discardableResult private mutating func skip(_ condition: (UInt8) -> Bool) -> Int {
        let skipped = rest.prefix(while: condition)
        rest = rest[skipped.endIndex...]
        return skipped.count
    }

    private static let separators = Array(",=\"".utf8)

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
