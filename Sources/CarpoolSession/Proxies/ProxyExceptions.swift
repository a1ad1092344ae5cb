public import CarpoolHTTP
internal import Glibc

/// The hosts that are reached without a proxy, by the rules of curl's `no_proxy`:
///
/// * a name stands for itself and for all names that end in it behind a dot; a dot before it or behind it is ignored;
/// * an IP address stands for itself, with `/BITS` for a network;
/// * `*` stands for every host.
///
/// A port behind a name or an address restricts it to that port, which curl does not know.
public struct ProxyExceptions: Sendable {
    private var names: [(name: String, port: UInt16?)] = []
    private var networks: [(network: AddressNetwork, port: UInt16?)] = []
    private var hasEveryHost = false

    /// No hosts.
    public init() {}

    /// The most entries: each is read with every request that brings them, and compared with its host.
    public static let maximumCount = 256

    /// Reads the text of the variable `no_proxy`: entries with commas or blanks between them. As in curl, an entry that
    /// is not one has no effect, and a `*` must stand alone.
    /// `nil` if there are more than ``maximumCount``.
    public init?(variable text: String) {
        if text == "*" { hasEveryHost = true }
        let entries = text.split(whereSeparator: { $0 == "," || $0.isWhitespace })
        guard entries.count <= ProxyExceptions.maximumCount else { return nil }
        for entry in entries where entry != "*" {
            if let network = AddressNetwork(variable: String(entry)) {
                networks.append((network, nil))
            } else {
                try? add(String(entry))
            }
        }
    }

    /// Adds an entry.
    public mutating func add(_ text: String) throws(HostPattern.Refusal) {
        if text == "*" {
            hasEveryHost = true
        } else if let network = AddressNetwork(text) {
            networks.append((network, nil))
        } else if let name = ProxyExceptions.plainName(text) {
            names.append((name, nil))
        } else {
            let pattern = try HostPattern(text.hasPrefix(".") ? String(text.dropFirst()) : text)
            guard !pattern.host.contains("*") else {
                throw HostPattern.Refusal(
                    message: "a name stands for the names below it, without a *: \(text.prefix(64).debugDescription)")
            }
            if let network = AddressNetwork(pattern.host) {
                networks.append((network, pattern.port))
            } else {
                names.append((pattern.host, pattern.port))
            }
        }
    }

    /// A name of letters, digits, hyphens and dots without a port, which needs no parser; `nil` for anything else, such
    /// as a number, which may be an address.
    private static func plainName(_ text: String) -> String? {
        var isNumeric = true
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, UInt8(ascii: "."): continue
            case 0x61...0x7A, 0x41...0x5A, UInt8(ascii: "-"): isNumeric = false
            default: return nil
            }
        }
        var name = Substring(text)
        if name.hasPrefix(".") { name = name.dropFirst() }
        if name.hasSuffix(".") { name = name.dropLast() }
        // A number in hexadecimal digits is an address too.
        guard !isNumeric, !name.hasPrefix("."), !name.hasPrefix("0x"), !name.hasPrefix("0X"), !name.contains("..")
        else {
            return nil
        }
        return name.lowercased()
    }

    /// Whether a URL with this origin is reached without a proxy.
    public func contains(_ origin: Origin) -> Bool {
        if hasEveryHost { return true }
        if let address = AddressNetwork(origin.host), address.isAddress {
            return networks.contains { entry in
                entry.network.contains(address) && (entry.port ?? origin.port) == origin.port
            }
        }
        var host = Substring(origin.host)
        if host.hasSuffix(".") { host = host.dropLast() }
        return names.contains { entry in
            guard (entry.port ?? origin.port) == origin.port, host.hasSuffix(entry.name) else { return false }
            let rest = host.dropLast(entry.name.count)
            return rest.isEmpty || rest.hasSuffix(".")
        }
    }
}

/// An IP address, or the addresses that have its first bits.
private struct AddressNetwork: Sendable {
    /// 4 or 16 bytes.
    private let bytes: [UInt8]
    private let bits: Int

    /// Whether it is a single address.
    var isAddress: Bool { bits == bytes.count * 8 }

    /// Reads an address, with or without brackets, and with or without `/BITS`; `nil` if it is neither.
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let bytes = parts.first.flatMap({ AddressNetwork.bytes(String($0)) }) else { return nil }
        self.bytes = bytes
        guard parts.count == 2 else {
            bits = bytes.count * 8
            return
        }
        guard parts[1].utf8.allSatisfy({ (48...57).contains($0) }), let bits = Int(parts[1]),
            bits <= bytes.count * 8
        else { return nil }
        self.bits = bits
    }

    /// Reads an address and the number of its bits as curl does: what follows the digits has no effect, and without
    /// digits it is the address alone. `nil` if there is no slash.
    init?(variable text: String) {
        guard let slash = text.firstIndex(of: "/") else { return nil }
        let digits = text[text.index(after: slash)...].prefix { ("0"..."9").contains($0) }
        self.init(digits.isEmpty ? String(text[..<slash]) : "\(text[..<slash])/\(digits)")
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        guard !text.utf8.contains(0) else { return nil }
        var v4 = in_addr()
        if inet_pton(AF_INET, text, &v4) == 1 { return withUnsafeBytes(of: &v4) { Array($0) } }
        let bare = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        var v6 = in6_addr()
        return inet_pton(AF_INET6, bare, &v6) == 1 ? withUnsafeBytes(of: &v6) { Array($0) } : nil
    }

    func contains(_ address: AddressNetwork) -> Bool {
        guard bytes.count == address.bytes.count else { return false }
        let whole = bits / 8
        guard bytes[..<whole].elementsEqual(address.bytes[..<whole]) else { return false }
        guard bits % 8 > 0 else { return true }
        let mask = UInt8.max << (8 - bits % 8)
        return bytes[whole] & mask == address.bytes[whole] & mask
    }
}
