internal import CTLS

/// The versions and ciphers of TLS that a connection may use. Equal if its members are.
///
/// An immutable object, because every copy of a request's options has a reference to it.
public final class TLSSettings: Hashable, Sendable {
    /// A version of TLS.
    public enum Version: String, Comparable, CaseIterable, Sendable {
        /// TLS 1.0 (RFC 2246), which RFC 8996 deprecates. OpenSSL uses it only at security level 0.
        case tls10 = "1.0"
        /// TLS 1.1 (RFC 4346), which RFC 8996 deprecates. OpenSSL uses it only at security level 0.
        case tls11 = "1.1"
        /// TLS 1.2 (RFC 5246).
        case tls12 = "1.2"
        /// TLS 1.3 (RFC 8446).
        case tls13 = "1.3"

        /// The older version is the smaller one.
        public static func < (a: Version, b: Version) -> Bool { a.rawValue < b.rawValue }
    }

    /// The oldest version that is accepted.
    public let minimum: Version
    /// The newest version that is offered.
    public let maximum: Version
    /// OpenSSL's list of ciphers for TLS 1.2 and older; `nil` for its default.
    public let ciphers: String?
    /// The cipher suites of TLS 1.3, separated by colons; `nil` for OpenSSL's default.
    public let cipherSuites: String?

    /// Makes settings; TLS 1.2 and 1.3 with OpenSSL's ciphers by default.
    public init(
        minimum: Version = .tls12, maximum: Version = .tls13, ciphers: String? = nil, cipherSuites: String? = nil
    ) {
        self.minimum = minimum
        self.maximum = maximum
        self.ciphers = ciphers
        self.cipherSuites = cipherSuites
    }

    /// Whether OpenSSL knows a cipher of this list for TLS 1.2 and older.
    public static func isKnown(ciphers: String) -> Bool {
        isPrintable(ciphers) && CTLS_knows_ciphers(ciphers, nil) == 1
    }
    /// Whether OpenSSL knows the suites of this list for TLS 1.3.
    public static func isKnown(cipherSuites: String) -> Bool {
        isPrintable(cipherSuites) && CTLS_knows_ciphers(nil, cipherSuites) == 1
    }

    /// OpenSSL would read a list only up to a NUL.
    private static func isPrintable(_ list: String) -> Bool { list.utf8.allSatisfy { (0x20...0x7E).contains($0) } }

    /// Whether all members are equal.
    public static func == (a: TLSSettings, b: TLSSettings) -> Bool {
        a.minimum == b.minimum && a.maximum == b.maximum && a.ciphers == b.ciphers && a.cipherSuites == b.cipherSuites
    }

    /// Hashes all members.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(minimum)
        hasher.combine(maximum)
        hasher.combine(ciphers)
        hasher.combine(cipherSuites)
    }
}
