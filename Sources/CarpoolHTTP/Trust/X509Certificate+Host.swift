internal import CTLS
internal import Glibc

extension X509Certificate {
    /// Whether the certificate names a host (RFC 9525): in its subjectAltName, not in its common name, with a wildcard
    /// for the whole first label at most.
    /// - Parameter host: a name, or an address without brackets.
    func isValid(forHost host: String) -> Bool {
        let flags = UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)
        if let address = X509Certificate.address(host) {
            return X509_check_ip(raw, address, address.count, flags) == 1
        }
        var name = Array(host.utf8)
        if name.last == UInt8(ascii: ".") { name.removeLast() }
        // OpenSSL takes a name that begins with a dot for all names below it, and one with a star for the wildcard.
        let forbidden: Set = [0, UInt8(ascii: "*")]
        guard let first = name.first, first != UInt8(ascii: "."), forbidden.isDisjoint(with: name) else { return false }
        return name.withUnsafeBytes { bytes in
            X509_check_host(raw, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, flags, nil) == 1
        }
    }

    /// The bytes of an address; `nil` if the host is a name.
    private static func address(_ host: String) -> [UInt8]? {
        // The zone of an IPv6 address (RFC 6874) is not part of the certificate.
        let text = String(host.prefix { $0 != "%" })
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 { return Array(bytes[..<4]) }
        return inet_pton(AF_INET6, text, &bytes) == 1 ? bytes : nil
    }
}
