internal import CCurl

extension Proxy {
    /// Why a text is not a proxy.
    public struct Refusal: Error {
        /// The reason.
        public let message: String
    }

    /// The address of a proxy, as curl takes it: `[scheme://][user[:password]@]host[:port][/]`. The default scheme is
    /// `http`, the default port 1080, and 443 for `https`.
    public struct Address: Equatable {
        /// The protocol.
        public let kind: Kind
        /// The host in lower case, an IPv6 address in brackets.
        public let host: String
        /// The port.
        public let port: UInt16
        /// The credential; `nil` if there is none.
        public let credential: Credential?

        /// Reads a text. The message of a refusal does not contain the credential.
        ///
        /// - Parameter ignoresPath: whether a path, a query and a fragment have no effect, as in curl.
        public init(_ text: String, ignoresPath: Bool = false) throws(Refusal) {
            let hasScheme = text.utf8.contains(UInt8(ascii: "/")) && text.contains("://")
            guard let parts = URLParts(hasScheme ? text : "http://\(text)") else {
                throw Refusal(message: "not the URL of a proxy")
            }
            let scheme = (parts[CURLUPART_SCHEME] ?? "").lowercased()
            // `socks` is an old name of `socks4`, as in curl.
            guard let kind = Kind(rawValue: scheme == "socks" ? "socks4" : scheme) else {
                throw Refusal(message: "\(String(scheme.prefix(64)).debugDescription) is not the scheme of a proxy")
            }
            let hasNoPath =
                ["", "/"].contains(parts[CURLUPART_PATH] ?? "") && parts[CURLUPART_QUERY] == nil
                && parts[CURLUPART_FRAGMENT] == nil
            guard ignoresPath || hasNoPath else {
                throw Refusal(message: "the URL of a proxy has no path, query or fragment")
            }
            guard parts[CURLUPART_ZONEID] == nil else {
                throw Refusal(message: "the address of a proxy has no zone")
            }
            guard let host = try? AuthorityText.host(parts[CURLUPART_HOST] ?? "") else {
                throw Refusal(message: "the URL of a proxy has no valid host")
            }
            self.kind = kind
            self.host = host
            port = parts[CURLUPART_PORT].flatMap { UInt16($0) } ?? (kind == .https ? 443 : 1_080)
            credential = try Address.credential(of: parts)
            // Basic has a colon between the two (RFC 7617, section 2).
            guard kind.isSOCKS || credential?.user.utf8.contains(UInt8(ascii: ":")) != true else {
                throw Refusal(message: "the user name of an HTTP proxy has no colon")
            }
        }

        private static func credential(of parts: borrowing URLParts) throws(Refusal) -> Credential? {
            guard parts[CURLUPART_USER] != nil || parts[CURLUPART_PASSWORD] != nil else { return nil }
            guard let user = parts.decoded(CURLUPART_USER), let password = parts.decoded(CURLUPART_PASSWORD) else {
                throw Refusal(message: "the user name and the password of a proxy have no control characters")
            }
            return Credential(user: user, password: password)
        }
    }
}

/// A URL of any scheme, parsed by libcurl.
private struct URLParts: ~Copyable {
    private let handle: OpaquePointer

    init?(_ text: String) {
        guard text.utf8.count <= 4_096, !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }),
            let handle = curl_url()
        else { return nil }
        guard curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK else {
            curl_url_cleanup(handle)
            return nil
        }
        self.handle = handle
    }

    deinit { curl_url_cleanup(handle) }

    subscript(part: CURLUPart) -> String? { text(part, 0) }

    /// A part, percent-decoded; empty if it is absent, `nil` if it has control characters.
    func decoded(_ part: CURLUPart) -> String? {
        guard self[part] != nil else { return "" }
        guard let text = text(part, UInt32(CURLU_URLDECODE)) else { return nil }
        return text.utf8.contains { $0 < 0x20 || $0 == 0x7F } ? nil : text
    }

    private func text(_ part: CURLUPart, _ flags: UInt32) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
