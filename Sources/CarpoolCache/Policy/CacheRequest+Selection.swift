internal import CarpoolHTTP

extension CacheRequest {
    /// The name under which the fields that are an implicit `Vary` are compared in shared stores (HK-07).
    static let unlisted = "(others)"

    /// The value of a field as it selects among responses: normalised, and hashed if it is a secret. `nil` without one.
    /// - Parameter name: in lower case.
    func selectingValue(of name: String) -> [UInt8]? {
        // Each of many variants asks for the same ones, and a value may be long.
        if let known = selectingValues[name] { return known }
        let value = computeSelectingValue(of: name)
        selectingValues[name] = .some(value)
        return value
    }

    private func computeSelectingValue(of name: String) -> [UInt8]? {
        if name == CacheRequest.unlisted { return unlistedValue }
        var lines = fields.filter { $0.hasName(name) }.map { Array($0.value.utf8) }
        switch name {
        case "cookie":
            if let cookie = hopFields?.cookie { lines.append(Array(cookie.value.utf8)) }
            return hashed(lines)
        case "authorization":
            if let value = hopFields?.authorization { lines.append(value) }
            return hashed(lines)
        case "accept-encoding" where lines.isEmpty && decoding.isAskedFor:
            lines = [Array(TransportRequest.acceptEncoding.utf8)]
        // Any other field may say who the caller is, which must not be readable on a disk.
        case _ where !CacheRequest.isReadable(name): return hashed(lines)
        default: break
        }
        return lines.isEmpty ? nil : VaryValue.normalized(lines, ignoresCase: name == "accept-language")
    }

    private func hashed(_ lines: [[UInt8]]) -> [UInt8]? {
        lines.isEmpty ? nil : hash.bytes(of: VaryValue.normalized(lines))
    }

    /// Whether the request has the fields that select a response.
    func isSelecting(_ fields: [CachedResponse.VaryField]) -> Bool {
        fields.allSatisfy { selectingValue(of: $0.name) == $0.value }
    }

    /// The fields that select a response to this request.
    /// - Parameter names: those of `Vary`, in lower case.
    func selectingFields(_ names: [String]) -> [CachedResponse.VaryField] {
        let all = use.store.isShared ? names + [CacheRequest.unlisted] : names
        return all.map { CachedResponse.VaryField(name: $0, value: selectingValue(of: $0)) }
    }

    /// Sets in a response the fields that its `Vary` names now; false if it fits no other request.
    func select(_ response: inout CachedResponse) -> Bool {
        guard let names = VaryValue.names(in: response.fields.allBytes("vary")) else { return false }
        if response.status != 206 { response.vary = selectingFields(names) }
        return true
    }

    /// Whether the caller is one whom responses without credentials are not for (HK-04). A cookie alone does not make
    /// it one.
    var isAuthorized: Bool { present.contains(.authorization) }

    /// All fields that no list says to be harmless, as one value.
    private var unlistedValue: [UInt8]? {
        var values: [(name: String, value: String)] = []
        for field in fields {
            let name = field.name.lowercased()
            if !CacheRequest.isHarmless(name) { values.append((name, field.value)) }
        }
        guard !values.isEmpty else { return nil }
        // Their order means nothing unless they have the same name.
        let order = values.enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }
        let text = order.map { "\($0.element.name):\($0.element.value)" }.joined(separator: "\n")
        return hash.bytes(of: Array(text.utf8))
    }

    private static let harmless: Set<String> = [
        "authorization", "baggage", "cache-control", "cookie", "dnt", "host", "if-match", "if-modified-since",
        "if-none-match", "if-range", "if-unmodified-since", "origin", "pragma", "priority", "range", "referer",
        "traceparent", "tracestate", "user-agent",
    ]

    private static func isHarmless(_ name: String) -> Bool {
        harmless.contains(name) || name.hasPrefix("accept") || name.hasPrefix("sec-")
    }

    /// Whether the values of a field are stored as they are: they are those of many callers.
    private static func isReadable(_ name: String) -> Bool {
        name.hasPrefix("accept") || name.hasPrefix("sec-ch-") || name == "range"
    }

    /// Whether the URL has a query.
    var hasQuery: Bool {
        for byte in url.description.utf8 {
            if byte == UInt8(ascii: "?") { return true }
            if byte == UInt8(ascii: "#") { return false }
        }
        return false
    }

    /// The values of a field.
    func values(_ name: StaticString) -> [[UInt8]] {
        fields.filter { $0.isNamed(name) }.map { Array($0.value.utf8) }
    }

    /// Whether the request asks for a validation: `no-cache`, or `Pragma: no-cache` without `Cache-Control` (HF-09).
    var hasNoCache: Bool {
        if present.contains(.cacheControl) { return control.has(.noCache) }
        guard present.contains(.pragma) else { return false }
        return values("pragma").contains { line in
            line.withUnsafeBytes { bytes in
                var isFound = false
                _ = FieldBytes.forEachMember(of: bytes) { member in
                    isFound = FieldBytes.matches(member, "no-cache")
                    return !isFound
                }
                return isFound
            }
        }
    }

    /// The range that it asks for, in one piece; `nil` for any other.
    var range: ByteRange? {
        let ranges = values("range")
        return ranges.count == 1 ? ranges[0].withUnsafeBytes { ByteRange($0) } : nil
    }
}
