public import CarpoolHTTP

/// Rewrites the URL of every request: parts of it are replaced.
public final class RewriteAdapter: RequestInterceptor {
    /// The parts to replace; a part that is `nil` stays.
    public struct Parts: Equatable, Sendable {
        /// `http` or `https`. Without ``port`` the port becomes the default of the scheme.
        public var scheme: String?
        /// The host; an IPv6 address in brackets.
        public var host: String?
        /// The port.
        public var port: UInt16?
        /// A prefix for the path, such as `/v2`; the old path follows.
        public var pathPrefix: String?
        /// Names and values for the query: each replaces all parameters of its name, and is appended. Both are
        /// percent-encoded when they are set; names are compared as they are written in the URL.
        public var query: [(name: String, value: String)] = []

        /// Replaces nothing.
        public init() {}

        /// Whether two values replace the same parts.
        public static func == (a: Parts, b: Parts) -> Bool {
            (a.scheme, a.host, a.port, a.pathPrefix) == (b.scheme, b.host, b.port, b.pathPrefix)
                && a.query.elementsEqual(b.query, by: ==)
        }
    }

    private let parts: Parts

    /// Makes an adapter.
    public init(_ parts: Parts) { self.parts = parts }

    /// Rewrites the URL. Fails with `invalid_url` if the result is not valid.
    public func adapt(
        _ urlRequest: TransportRequest, for request: Request,
        completion: @escaping (Result<TransportRequest, SessionError>) -> Void
    ) {
        var urlRequest = urlRequest
        let text = rewritten(urlRequest.url)
        do throws(TransportError) {
            urlRequest.url = try HTTPURL(text, encoding: urlRequest.url.encoding)
        } catch {
            return completion(.failure(.invalidURL(text, error)))
        }
        completion(.success(urlRequest))
    }

    /// The URL with its parts replaced, as text.
    func rewritten(_ url: HTTPURL) -> String {
        let (path, query, fragment) = RewriteAdapter.split(url.description)
        let origin = url.origin
        let scheme = parts.scheme ?? origin.scheme
        let standard: UInt16 = scheme == "https" ? 443 : 80
        let port = parts.port ?? (parts.scheme == nil ? origin.port : standard)
        var text = "\(scheme)://\(parts.host ?? origin.host)"
        if port != standard { text += ":\(port)" }
        text += RewriteAdapter.join(parts.pathPrefix, path)
        let pairs = self.query(query)
        if !pairs.isEmpty { text += "?\(pairs.joined(separator: "&"))" }
        return text + fragment
    }

    private func query(_ old: Substring) -> [String] {
        let plain = AllowedCharacters.unreserved
        let new = parts.query.map { (plain.percentEncode($0.name), plain.percentEncode($0.value)) }
        let kept = old.split(separator: "&").filter { pair in
            let name = pair.prefix { $0 != "=" }
            return !new.contains { $0.0 == name }
        }
        return kept.map(String.init) + new.map { "\($0.0)=\($0.1)" }
    }

    private static func join(_ prefix: String?, _ path: Substring) -> String {
        guard let prefix, prefix != "/" else { return String(path) }
        let start = prefix.hasSuffix("/") ? prefix.dropLast() : prefix[...]
        return "\(start.hasPrefix("/") ? "" : "/")\(start)\(path.isEmpty ? "/" : path)"
    }

    /// Path, query without its `?`, and fragment with its `#`.
    private static func split(_ url: String) -> (path: Substring, query: Substring, fragment: Substring) {
        var rest = url[...]
        if let scheme = rest.firstRange(of: "://") { rest = rest[scheme.upperBound...] }
        rest = rest.drop { $0 != "/" && $0 != "?" && $0 != "#" }
        let beforeFragment = rest.prefix { $0 != "#" }
        let fragment = rest[beforeFragment.endIndex...]
        let path = beforeFragment.prefix { $0 != "?" }
        return (path, beforeFragment[path.endIndex...].dropFirst(), fragment)
    }
}
