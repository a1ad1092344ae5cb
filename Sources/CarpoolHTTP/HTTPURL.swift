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

    /// Parses a reference against this URL (RFC 3986, section 5), as a `Location` field holds one.
    public func resolving(_ reference: String) throws(TransportError) -> HTTPURL {
        try HTTPURL(reference, relativeTo: self)
    }

    private init(_ text: String, relativeTo base: HTTPURL?) throws(TransportError) {
        guard text.utf8.count <= 65_536, text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw TransportError(.badURL, "a URL must have no blanks or control characters, and at most 65,536 bytes")
        }
        guard let handle = base.map({ curl_url_dup($0.handle) }) ?? curl_url() else {
            throw TransportError(.unknown, "out of memory")
        }
        do throws(TransportError) {
            try HTTPURL.check(curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME)))
            let scheme = HTTPURL.part(handle, CURLUPART_SCHEME)?.lowercased() ?? ""
            guard scheme == "http" || scheme == "https" else {
                throw TransportError(
                    .unsupportedURL, "the scheme must be http or https, not \(scheme.isEmpty ? "absent" : scheme)")
            }
            guard let host = HTTPURL.part(handle, CURLUPART_HOST)?.lowercased(), !host.isEmpty else {
                throw TransportError(.badURL, "the URL has no host")
            }
            let port = HTTPURL.part(handle, CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)).flatMap { UInt16($0) } ?? 0
            userInformation = text.utf8.contains(UInt8(ascii: "@")) ? HTTPURL.takeUserInformation(from: handle) : nil
            origin = Origin(scheme: scheme, host: host, port: port)
            // An absolute URL that lost nothing is told as it was given; putting it together again costs as much as parsing it.
            let isAsGiven = base == nil && userInformation == nil
            description = isAsGiven ? text : HTTPURL.part(handle, CURLUPART_URL) ?? ""
            self.handle = handle
        } catch {
            curl_url_cleanup(handle)
            throw error
        }
    }

    deinit { curl_url_cleanup(handle) }

    private static func takeUserInformation(from handle: OpaquePointer) -> (user: String, password: String)? {
        let user = part(handle, CURLUPART_USER, UInt32(CURLU_URLDECODE))
        let password = part(handle, CURLUPART_PASSWORD, UInt32(CURLU_URLDECODE))
        guard user != nil || password != nil else { return nil }
        curl_url_set(handle, CURLUPART_USER, nil, 0)
        curl_url_set(handle, CURLUPART_PASSWORD, nil, 0)
        return (user ?? "", password ?? "")
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
}
