internal import Glibc

/// An address of IPv4 or IPv6, without port or zone.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// The two families.
    public enum Family: Sendable, CaseIterable {
        /// IPv4, four bytes.
        case v4
        /// IPv6, sixteen bytes.
        case v6
    }

    /// The family of the address.
    public let family: Family
    /// The first eight bytes as one number; IPv4 is in the low half of `low`.
    private let high: UInt64
    private let low: UInt64

    /// Parses the text form of inet_pton(3); `nil` for anything else, names and zones included.
    public init?(_ text: String) {
        let isV6 = text.utf8.contains(UInt8(ascii: ":"))
        var bytes = [UInt8](repeating: 0, count: isV6 ? 16 : 4)
        guard inet_pton(isV6 ? AF_INET6 : AF_INET, text, &bytes) == 1 else { return nil }
        self.init(bytes: bytes)
    }

    /// Creates an address from its bytes in network order; `nil` unless there are 4 or 16.
    public init?(bytes: some Collection<UInt8>) {
        switch bytes.count {
        case 4: family = .v4
        case 16: family = .v6
        default: return nil
        }
        var (high, low): (UInt64, UInt64) = (0, 0)
        for byte in bytes {
            high = high << 8 | low >> 56
            low = low << 8 | UInt64(byte)
        }
        (self.high, self.low) = (high, low)
    }

    /// Its bytes in network order.
    public var bytes: [UInt8] {
        let count = family == .v4 ? 4 : 16
        return (0..<count).map { index in
            let shift = UInt64(8 * (count - 1 - index))
            return UInt8(truncatingIfNeeded: shift < 64 ? low >> shift : high >> (shift - 64))
        }
    }

    /// Whether it is 127.0.0.0/8 or ::1.
    public var isLoopback: Bool { family == .v4 ? low >> 24 == 127 : high == 0 && low == 1 }

    /// Whether it is a link-local address: 169.254.0.0/16 (RFC 3927) or fe80::/10 (RFC 4291).
    public var isLinkLocal: Bool { family == .v4 ? low >> 16 == 0xA9FE : high >> 54 == 0x3FA }

    /// Whether it is the unspecified address: 0.0.0.0 or ::.
    public var isUnspecified: Bool { high == 0 && low == 0 }

    /// Its network: the address with all bits after the prefix cleared.
    public func network(prefixLength: Int) -> IPAddress {
        let bits = max(0, prefixLength)
        let bytes = bytes.enumerated().map { index, byte in
            let kept = max(0, min(8, bits - 8 * index))
            return byte & UInt8(truncatingIfNeeded: 0xFF00 >> kept)
        }
        return IPAddress(bytes: bytes) ?? self
    }

    /// The text form of inet_ntop(3).
    public var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(family == .v4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count)) != nil else {
            return ""
        }
        return text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }
}
