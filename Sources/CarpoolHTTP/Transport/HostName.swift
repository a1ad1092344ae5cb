internal import CCurl
internal import Glibc

/// Names of hosts with letters beyond ASCII, which go to DNS, TLS and `Host` as A-labels (RFC 5890, UTS 46):
/// `bücher.example` is `xn--bcher-kva.example`.
enum HostName {
    /// Converts the host of a parsed URL to A-labels if it has non-ASCII characters. Returns whether it did.
    ///
    /// libcurl converts with libidn2, which takes the text to be in the locale's charset. The daemon runs in the C
    /// locale, and a program that embeds the engine in any, so this thread has a UTF-8 locale during the call.
    static func convert(_ handle: OpaquePointer) throws(TransportError) -> Bool {
        guard let host = part(handle, 0), !isASCII(host) else { return false }
        guard let utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nil) else {
            throw TransportError(
                .badURL, "host names with non-ASCII letters need the locale C.UTF-8, which is not installed")
        }
        let former = uselocale(utf8)
        let converted = part(handle, UInt32(CURLU_PUNYCODE))
        uselocale(former)
        freelocale(utf8)
        guard let converted, isName(converted), curl_url_set(handle, CURLUPART_HOST, converted, 0) == CURLUE_OK else {
            throw TransportError(.badURL, "the host name has invalid characters: \(host.prefix(255))")
        }
        return true
    }

    private static func part(_ handle: OpaquePointer, _ flags: UInt32) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, CURLUPART_HOST, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }

    private static func isASCII(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }

    /// Whether a converted name has only letters, digits, dashes, underscores and dots. The mapping to compatible
    /// characters can produce others.
    private static func isName(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
            default: false
            }
        }
    }
}
