internal import CCurl
internal import Glibc

/// An absolute `http` or `https` URL, parsed once by libcurl's own parser, so that no second parser can differ from
/// it.
///
/// It owns the parsed form, which the transport passes to libcurl.
public final class HTTPURL: CustomStringConvertible {
    let handle: OpaquePointer
    /// The origin of the URL.
    public let origin: Origin
    /// The whole URL without user information: as it was given, or put together if it was a reference.
    public let description: String
    /// User name and password that stood in the URL, percent-decoded; they are taken out of it.
    public let userInformation: (user: String, password: String)?

    /// The treatment of characters that a URL must not contain, in this URL and in those derived from it.
    public let encoding: URLEncoding

    /// The path and the query, as they are sent in the first line of a request.
    public var requestTarget: String {
        let path = HTTPURL.part(handle, CURLUPART_PATH) ?? "/"
        if let query = HTTPURL.part(handle, CURLUPART_QUERY) { return "\(path)?\(query)" }
        return hasEmptyQuery ? "\(path)?" : path
    }

    /// Whether the URL has a query without characters, which libcurl does not send.
    var hasEmptyQuery: Bool { HTTPURL.hasEmptyQuery(description) }

    /// About how many bytes of memory it takes: the text, and the parts in libcurl's form.
    public var memoryBytes: Int { 2 &* description.utf8.count &+ 512 }

    /// Parses an absolute URL. Refuses other schemes, control characters, a backslash in the authority, and URLs over
    /// 64 KiB.
    /// - Parameter encoding: how characters that a URL must not contain are treated. ``URLEncoding/asIs`` refuses
    ///   blanks.
    public convenience init(_ text: String, encoding: URLEncoding = .percent) throws(TransportError) {
        try self.init(text, relativeTo: nil, encoding: encoding)
    }

    /// Resolves a reference against this URL (RFC 3986, section 5), such as the value of a `Location` field. It is
    /// encoded as this URL was; with ``URLEncoding/asIs``, blanks and bytes beyond ASCII are encoded nevertheless, as
    /// curl does it.
    public func resolving(_ reference: String) throws(TransportError) -> HTTPURL {
        guard reference.isEmpty || reference.utf8.first == UInt8(ascii: "#") else {
            return try HTTPURL(reference, relativeTo: self, encoding: encoding)
        }
        // The same document (RFC 3986, section 5.2.2), of which the older library takes away the last segment of the
        // path and the query.
        let document = description[..<(description.firstIndex(of: "#") ?? description.endIndex)]
        let fragment = URLEncoder.encode(reference, isReference: true)
        return try HTTPURL("\(document)\(fragment)", relativeTo: nil, encoding: encoding, isEncoded: true)
    }

    /// The same URL with text appended to its query, or with a query if it had none; path, fragment and user
    /// information stay. Nothing is re-encoded: the text must be percent-encoded already, and a `#`, which would end
    /// the query, is refused.
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
            "\(beginning)\(joint)\(addition)\(description[fragment...])", relativeTo: nil, encoding: encoding,
            isEncoded: true, userInformation: userInformation)
    }

    private init(
        _ given: String, relativeTo base: HTTPURL?, encoding: URLEncoding, isEncoded: Bool = false,
        userInformation known: (user: String, password: String)? = nil
    ) throws(TransportError) {
        let scan = URLScan(given)
        let isReference = base != nil
        try HTTPURL.check(scan, given, isReference: isReference, refusesBlanks: encoding.isVerbatim || isEncoded)
        let encodes = encoding == .percent && !isEncoded && scan.needsEncoding
        let text = encodes ? URLEncoder.encode(given, isReference: isReference) : given
        guard let handle = base.map({ curl_url_dup($0.handle) }) ?? curl_url() else {
            throw TransportError(.unknown, "out of memory")
        }
        // Not part of the base of a reference (RFC 3986, section 5.2.2); the older version appends a query to it.
        if isReference { curl_url_set(handle, CURLUPART_FRAGMENT, nil, 0) }
        do throws(TransportError) {
            let flags = HTTPURL.flags(encoding, isReference: isReference)
            try HTTPURL.check(curl_url_set(handle, CURLUPART_URL, text, flags))
            let scheme = try HTTPURL.scheme(of: handle)
            let isConverted = scan.mayHaveNonASCIIHost ? try HostName.convert(handle) : false
            guard let host = HTTPURL.part(handle, CURLUPART_HOST), !host.isEmpty else {
                throw TransportError(.badURL, "the URL has no host")
            }
            if scan.mayHaveNonASCIIHost { try HTTPURL.checkZone(handle) }
            let port = HTTPURL.part(handle, CURLUPART_PORT).flatMap { UInt16($0) } ?? (scheme == "https" ? 443 : 80)
            // Most URLs have none, and the query costs as much as the rest of the parsing.
            let found = scan.hasAt ? try HTTPURL.takeUserInformation(handle) : nil
            userInformation = found ?? known
            let isLowercase = !scan.hasUppercase && !scan.mayHaveNonASCIIHost && !isReference
            let zone = host.hasPrefix("[") ? HTTPURL.part(handle, CURLUPART_ZONEID) : nil
            origin = Origin(scheme: scheme, host: isLowercase ? host : host.lowercased(), port: port, zone: zone)
            // An unchanged absolute URL is described as it was given; building it costs as much as parsing it.
            let isAsGiven = !isReference && found == nil && !isConverted
            description = isAsGiven ? text : HTTPURL.whole(handle, given: text)
            self.handle = handle
            self.encoding = encoding
        } catch {
            curl_url_cleanup(handle)
            throw error
        }
    }

    private static func flags(_ encoding: URLEncoding, isReference: Bool) -> UInt32 {
        var flags = CURLU_NON_SUPPORT_SCHEME
        if isReference, encoding.isVerbatim { flags |= CURLU_URLENCODE | CURLU_ALLOW_SPACE }
        if encoding == .exact { flags |= CURLU_PATH_AS_IS }
        return UInt32(flags)
    }

    /// Refuses URLs that no encoding can repair.
    private static func check(
        _ scan: URLScan, _ text: String, isReference: Bool, refusesBlanks: Bool
    ) throws(TransportError) {
        guard scan.isClean else {
            throw TransportError(.badURL, "a URL must have no control characters, and at most 65,536 bytes")
        }
        guard scan.hasBlank || scan.hasBackslash else { return }
        // Not an error: a caller can correct a URL, but not an origin's reference.
        guard isReference || !refusesBlanks || !scan.hasBlank else {
            throw TransportError(.badURL, "a URL that is sent unchanged must have no blanks; write them as %20")
        }
        let authority = URLEncoder.authority(of: text, isReference: isReference)
        guard !authority.contains(UInt8(ascii: "\\")) else {
            throw TransportError(
                .badURL, "a URL must have no backslash before its path: readers differ on which host it then names")
        }
        guard !authority.contains(0x20) else { throw TransportError(.badURL, "the host of a URL must have no blanks") }
    }

    /// Refuses a zone of an IPv6 address with other characters than RFC 6874 allows: with an `@` or a bracket,
    /// readers differ on the host.
    private static func checkZone(_ handle: OpaquePointer) throws(TransportError) {
        guard let zone = part(handle, CURLUPART_ZONEID), !zone.utf8.allSatisfy(URLEncoder.isUnreserved) else { return }
        throw TransportError(
            .badURL, "the zone of an IPv6 address must have only letters, digits, hyphens, dots, underscores and tildes"
        )
    }

    deinit { curl_url_cleanup(handle) }

    private static func scheme(of handle: OpaquePointer) throws(TransportError) -> String {
        var scheme = part(handle, CURLUPART_SCHEME) ?? ""
        if scheme == "http" || scheme == "https" { return scheme }
        scheme = scheme.lowercased()
        if scheme == "http" || scheme == "https" { return scheme }
        throw TransportError(
            .unsupportedURL, "the scheme must be http or https, not \(scheme.isEmpty ? "absent" : scheme)")
    }

    private static func takeUserInformation(
        _ handle: OpaquePointer
    ) throws(TransportError) -> (user: String, password: String)? {
        let user = try decodedPart(handle, CURLUPART_USER)
        let password = try decodedPart(handle, CURLUPART_PASSWORD)
        guard user != nil || password != nil else { return nil }
        curl_url_set(handle, CURLUPART_USER, nil, 0)
        curl_url_set(handle, CURLUPART_PASSWORD, nil, 0)
        return (user ?? "", password ?? "")
    }

    /// A part, percent-decoded. libcurl does not decode what holds control characters, and would then look as if
    /// there were no such part.
    private static func decodedPart(_ handle: OpaquePointer, _ which: CURLUPart) throws(TransportError) -> String? {
        guard let encoded = part(handle, which) else { return nil }
        guard encoded.utf8.contains(UInt8(ascii: "%")) else { return encoded }
        guard let decoded = part(handle, which, UInt32(CURLU_URLDECODE)) else {
            throw TransportError(.badURL, "the user name and the password of a URL must have no control characters")
        }
        return decoded
    }

    private static func check(_ code: CURLUcode) throws(TransportError) {
        if code == CURLUE_OK { return }
        throw TransportError(.badURL, "not an absolute http or https URL: \(String(cString: curl_url_strerror(code)))")
    }

    private static func hasEmptyQuery(_ text: String) -> Bool {
        // Nearly every URL ends with something else, and has no fragment.
        guard text.utf8.last == UInt8(ascii: "?") || hasFragment(text) else { return false }
        let target = text.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard target.last == UInt8(ascii: "?") else { return false }
        return target.firstIndex(of: UInt8(ascii: "?")) == target.index(before: target.endIndex)
    }

    private static func hasFragment(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.baseAddress.map { memchr($0, Int32(UInt8(ascii: "#")), bytes.count) != nil } ?? false
        } ?? text.utf8.contains(UInt8(ascii: "#"))
    }

    /// The whole URL, with the empty query of the given text, which libcurl leaves out.
    private static func whole(_ handle: OpaquePointer, given text: String) -> String {
        let whole = part(handle, CURLUPART_URL) ?? ""
        guard hasEmptyQuery(text), !hasEmptyQuery(whole) else { return whole }
        let end = whole.firstIndex(of: "#") ?? whole.endIndex
        return "\(whole[..<end])?\(whole[end...])"
    }

    private static func part(_ handle: OpaquePointer, _ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
