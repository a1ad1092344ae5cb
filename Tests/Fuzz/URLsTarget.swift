internal import CCurl
@testable import CarpoolHTTP

/// An accepted URL has the host that libcurl parses from its text, and its text parses to the same URL again.
enum URLsTarget {
    static func run(_ input: UnsafeRawBufferPointer) {
        var choices = Choices(input)
        let encoding: URLEncoding = choices.number(below: 2) == 0 ? .percent : .asIs
        let parts = choices.rest.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        let text = String(decoding: parts.first ?? choices.rest[...], as: UTF8.self)
        checkEncoder(text)
        guard let url = try? HTTPURL(text, encoding: encoding) else { return }
        check(url)
        guard parts.count == 2 else { return }
        let addition = String(decoding: parts[1], as: UTF8.self)
        checkEncoder(addition)
        if let target = try? url.resolving(addition) { check(target) }
        // What is added must be percent-encoded already.
        if !URLScan(addition).needsEncoding, let longer = try? url.appendingQuery(addition) {
            require(longer.origin == url.origin, "a query leads from \(url) to \(longer)")
            check(longer)
        }
    }

    private static func checkEncoder(_ text: String) {
        for isReference in [false, true] {
            let encoded = URLEncoder.encode(text, isReference: isReference)
            if !URLScan(text).needsEncoding { require(same(encoded, text), "\(text) is encoded as \(encoded)") }
            require(same(URLEncoder.encode(encoded, isReference: isReference), encoded), "\(text) is encoded twice")
        }
    }

    /// As bytes: Swift takes different forms of a letter for one.
    private static func same(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }

    private static func check(_ url: HTTPURL) {
        let text = url.description
        require(url.origin.scheme == "http" || url.origin.scheme == "https", "scheme \(url.origin.scheme)")
        require(!url.origin.host.isEmpty, "no host in \(text)")
        require(text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }, "\(text) has blanks or control characters")
        if url.encoding == .percent { require(text.utf8.allSatisfy { $0 < 0x80 }, "\(text) has bytes beyond ASCII") }
        guard let again = try? HTTPURL(text, encoding: url.encoding) else { fail("\(text) is unreadable") }
        require(again.origin == url.origin, "\(text) leads to \(url.origin) and to \(again.origin)")
        require(same(again.description, text), "\(text) becomes \(again.description)")
        checkLibrary(text, url.origin)
    }

    private static func checkLibrary(_ text: String, _ origin: Origin) {
        let handle = curl_url()
        defer { curl_url_cleanup(handle) }
        let code = curl_url_set(handle, CURLUPART_URL, text, 0)
        require(code == CURLUE_OK, "libcurl refuses \(text): \(String(cString: curl_url_strerror(code)))")
        let scheme = part(handle, CURLUPART_SCHEME, 0)?.lowercased()
        require(scheme == origin.scheme, "libcurl has another scheme in \(text)")
        require(part(handle, CURLUPART_HOST, 0)?.lowercased() == origin.host, "libcurl has another host in \(text)")
        let port = part(handle, CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT))
        require(port == "\(origin.port)", "libcurl has port \(port ?? "") in \(text)")
        let user = part(handle, CURLUPART_USER, 0)
        require(user == nil, "a user is left in \(text)")
    }

    private static func part(_ handle: OpaquePointer?, _ part: CURLUPart, _ flags: UInt32) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
