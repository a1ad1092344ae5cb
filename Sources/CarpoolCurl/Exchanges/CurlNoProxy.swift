internal import Glibc

/// The hosts that are reached without a proxy (`--noproxy`, `no_proxy`).
struct CurlNoProxy {
    private let entries: [String]

    /// Reads a list whose entries are separated by commas and blanks.
    init(_ text: String) {
        entries = text.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init)
    }

    /// Whether a host is among them: by its name, by a name above it, by its address, or by a network such as
    /// `10.0.0.0/8`. `*` as the only entry is every host.
    func contains(_ host: String) -> Bool {
        if entries == ["*"] { return true }
        let name = CurlNoProxy.withoutDot(host.lowercased())
        let address = CurlNoProxy.address(name)
        return entries.contains { entry in
            guard let address else { return CurlNoProxy.isBelow(name, entry) }
            return CurlNoProxy.covers(entry, address)
        }
    }

    private static func withoutDot(_ name: String) -> String { name.hasSuffix(".") ? String(name.dropLast()) : name }

    private static func isBelow(_ name: String, _ entry: String) -> Bool {
        let suffix = withoutDot(entry.hasPrefix(".") ? String(entry.dropFirst()) : entry)
        guard !suffix.isEmpty, name.hasSuffix(suffix) else { return false }
        return name.utf8.count == suffix.utf8.count || name.dropLast(suffix.count).last == "."
    }

    private static func covers(_ entry: String, _ address: [UInt8]) -> Bool {
        let parts = entry.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let text = parts[0].hasPrefix("[") && parts[0].hasSuffix("]") ? parts[0].dropFirst().dropLast() : parts[0]
        guard let network = CurlNoProxy.address(String(text)), network.count == address.count else { return false }
        guard parts.count == 2 else { return network == address }
        guard let bits = Int(parts[1]), (0...address.count * 8).contains(bits) else { return false }
        let whole = bits / 8
        guard network[..<whole] == address[..<whole] else { return false }
        guard bits % 8 > 0 else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xFF00 >> (bits % 8))
        return network[whole] & mask == address[whole] & mask
    }

    /// The bytes of an address of IPv4 or IPv6; `nil` for a name.
    private static func address(_ text: String) -> [UInt8]? {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if inet_pton(family, text, &bytes) == 1 { return bytes }
        }
        return nil
    }
}
