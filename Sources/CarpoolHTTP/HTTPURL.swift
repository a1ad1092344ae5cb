internal import CCurl

/// An absolute `http` or `https` URL, parsed once by libcurl's own parser, so that no second opinion can differ from what is sent.
///
/// It owns the parsed form; the transport gives that to libcurl.
public final class HTTPURL: CustomStringConvertible {
    let handle: OpaquePointer
    /// Where the URL leads to.
    public let origin: Origin
    /// The whole URL without user information: as it was given, or put together if it was a reference.
    public let description: String
    /// User name and password that stood in the URL, percent-decoded; they are taken out of it.
    public let userInformation: (user: String, password: String)?

    /// Parses an absolute URL. Refuses other schemes, control characters, and URLs over 64 KiB.
    public convenience init(_ text: String) throws(TransportError) {
        try self.init(text, relativeTo: nil)
    }

    /// Parses a reference against this URL (RFC 3986, section 5), as a `Location` field holds one. Blanks and bytes beyond ASCII, which a
    /// reference should not have and many have, are percent-encoded.
    public func resolving(_ reference: String) throws(TransportError) -> HTTPURL {
        try HTTPURL(reference, relativeTo: self)
    }

    /// The same URL with more behind its query, or with a query if it had none; path, fragment and user information stay. Not a character
    /// is changed: what is added must be percent-encoded already, and a `#`, which would end the query, is refused.
    public func appendingQuery(_ addition: String) throws(TransportError) -> HTTPURL {
        guard !addition.utf8.contains(UInt8(ascii: "#")) else {
            throw TransportError(.badURL, "a query must have no #; write it as %23")
        }
        let fragment = description.firstIndex(of: "#") ?? description.endIndex
        let beginning = description[..<fragment]
        let query = beginning.firstIndex(of: "?").map { beginning[beginning.index(after: $0)...] }
        let joint = query.map { $0.isEmpty ? "" : "&" } ?? "?"
        // As text, because libcurl writes the percent-encodings of a part that it is given in lower case.
        return try HTTPURL(
            "\(beginning)\(joint)\(addition)\(description[fragment...])", relativeTo: nil,
            userInformation: userInformation)
    }

    private init(
        _ text: String, relativeTo base: HTTPURL?, userInformation known: (user: String, password: String)? = nil
    ) throws(TransportError) {
        let survey = Survey(text)
        // Nobody who reads an error could correct an origin's reference; a caller can correct a URL.
        let isReference = base != nil
        guard survey.isClean, isReference || !survey.hasBlank else {
            throw TransportError(.badURL, "a URL must have no blanks or control characters, and at most 65,536 bytes")
        }
        guard let handle = base.map({ curl_url_dup($0.handle) }) ?? curl_url() else {
            throw TransportError(.unknown, "out of memory")
        }
        // No part of what a reference leads to (RFC 3986, section 5.2.2); the older library puts a query behind it.
        if isReference { curl_url_set(handle, CURLUPART_FRAGMENT, nil, 0) }
        do throws(TransportError) {
            let repairs = isReference ? CURLU_URLENCODE | CURLU_ALLOW_SPACE : 0
            try HTTPURL.check(curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME | repairs)))
            let scheme = try HTTPURL.scheme(of: handle)
            guard let host = HTTPURL.part(handle, CURLUPART_HOST), !host.isEmpty else {
                throw TransportError(.badURL, "the URL has no host")
            }
            let port = HTTPURL.part(handle, CURLUPART_PORT).flatMap { UInt16($0) } ?? (scheme == "https" ? 443 : 80)
            // Most URLs have none, and asking costs as much as the rest of the parsing.
            let found = survey.hasAt ? HTTPURL.takeUserInformation(handle) : nil
            userInformation = found ?? known
            origin = Origin(scheme: scheme, host: HTTPURL.lowered(host), port: port)
            // An absolute URL that lost nothing is told as it was given; putting it together again costs as much as parsing it.
            let isAsGiven = !isReference && found == nil
            description = isAsGiven ? text : HTTPURL.part(handle, CURLUPART_URL) ?? ""
            self.handle = handle
        } catch {
            curl_url_cleanup(handle)
            throw error
        }
    }

    deinit { curl_url_cleanup(handle) }

    private static func scheme(of handle: OpaquePointer) throws(TransportError) -> String {
        let scheme = part(handle, CURLUPART_SCHEME).map(lowered) ?? ""
        if scheme == "http" || scheme == "https" { return scheme }
        throw TransportError(
            .unsupportedURL, "the scheme must be http or https, not \(scheme.isEmpty ? "absent" : scheme)")
    }

    private static func takeUserInformation(_ handle: OpaquePointer) -> (user: String, password: String)? {
        let user = part(handle, CURLUPART_USER, UInt32(CURLU_URLDECODE))
        let password = part(handle, CURLUPART_PASSWORD, UInt32(CURLU_URLDECODE))
        guard user != nil || password != nil else { return nil }
        curl_url_set(handle, CURLUPART_USER, nil, 0)
        curl_url_set(handle, CURLUPART_PASSWORD, nil, 0)
        return (user ?? "", password ?? "")
    }

    private static func lowered(_ text: String) -> String {
        Survey(text).hasUppercase ? text.lowercased() : text
    }

    private static func check(_ code: CURLUcode) throws(TransportError) {
        if code == CURLUE_OK { return }
        throw TransportError(.badURL, "not an absolute http or https URL: \(String(cString: curl_url_strerror(code)))")
    }

    private static func part(_ handle: OpaquePointer, _ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }

    /// What a look at each byte of a text tells.
    private struct Survey {
        /// Not too long, no control characters.
        var isClean = true
        var hasBlank = false
        var hasAt = false
        var hasUppercase = false

        init(_ text: String) {
            var text = text
            text.withUTF8 { bytes in
                isClean = bytes.count <= 65_536
                for byte in bytes {
                    if byte < 0x20 || byte == 0x7F { isClean = false }
                    if byte == 0x20 { hasBlank = true }
                    if byte == UInt8(ascii: "@") { hasAt = true }
                    if byte >= UInt8(ascii: "A"), byte <= UInt8(ascii: "Z") { hasUppercase = true }
                }
            }
        }
    }
}
