/// Relative references, as curl resolves a Location.
extension CurlURL {
    /// The URL that a reference leads to. With ``Rules/encodes`` its spaces and bytes outside ASCII are encoded.
    func resolving(_ bytes: [UInt8], _ rules: Rules) throws(CurlURLError) -> CurlURL {
        if bytes.isEmpty { return self }
        if CurlURL.schemeLength(bytes, guessing: false) > 0 { return try CurlURL(bytes, rules) }
        let isNetwork = bytes.starts(with: "//".utf8)
        let base = Array(text.utf8)
        let start = scheme.utf8.count + 3
        let cut = isNetwork ? start : cutoff(base, start, bytes)
        var joined = Array(base[..<cut])
        if isNetwork {
            let host = bytes.dropFirst(2).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
            joined += host + CurlURL.encoded(bytes.dropFirst(2 + host.count), inQuery: false)
        } else {
            joined += CurlURL.encoded(bytes, inQuery: false)
        }
        // Dot segments of a relative reference are removed even with --path-as-is.
        return try CurlURL(joined, rules.subtracting(.keepsPath))
    }

    /// How many bytes of the base stay before a reference without a host.
    private func cutoff(_ base: [UInt8], _ start: Int, _ reference: [UInt8]) -> Int {
        let slash = UInt8(ascii: "/")
        func index(of byte: UInt8) -> Int { base[start...].firstIndex(of: byte) ?? base.count }
        if reference.first == slash { return index(of: slash) }
        if reference.first == UInt8(ascii: "#") {
            return fragment == nil ? base.count : index(of: UInt8(ascii: "#"))
        }
        var end = base.count
        if let query, !query.isEmpty {
            end = index(of: UInt8(ascii: "?"))
        } else if let fragment, !fragment.isEmpty {
            end = index(of: UInt8(ascii: "#"))
        }
        if reference.first == UInt8(ascii: "?") { return end }
        return base[start..<end].lastIndex(of: slash).map { $0 + 1 } ?? base.count
    }
}
