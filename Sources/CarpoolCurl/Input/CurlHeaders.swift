/// The header fields of a request, in the order in which curl 8.14.1 sends them.
struct CurlHeaders: Equatable {
    /// The fields. Without the line `-H Host` the first one, Host, is not among them: it is added when it is sent.
    private(set) var fields: [CurlHeaderField] = []
    /// How many fields come before Cookie.
    private(set) var cookiePlace = 0
    /// Whether the request has no field Host (`-H Host:`).
    private(set) var removesHost = false
    /// Whether the field Expect is added once the connection turns out to speak HTTP/1.1.
    private(set) var mayExpectContinue = false
    /// Whether the body is sent in chunks.
    private(set) var isChunked = false

    /// A body of more bytes, or of an unknown length, is announced with Expect.
    static let expectBytes = 1_048_576

    /// Makes the fields from the options and what the request depends on.
    init(_ request: CurlRequestOptions, _ context: CurlHeaderContext) throws(CurlError) {
        let lines = context.lines
        addHost(context)
        add("Proxy-Authorization", context.proxyAuthorization)
        add("Authorization", context.authorization, unless: lines)
        addRange(request, context)
        add("User-Agent", CurlHeaders.userAgent(request), unless: lines)
        add("Accept", "*/*", unless: lines)
        if request.isCompressed { add("Accept-Encoding", "deflate, gzip, br, zstd", unless: lines) }
        add("Referer", context.referer, unless: lines)
        if context.usesProxy, context.proxyLines.line(of: "Proxy-Connection") == nil {
            add("Proxy-Connection", "Keep-Alive", unless: lines)
        }
        decideChunks(context)
        cookiePlace = fields.count
        if lines.line(of: "Cookie") == nil { add("Cookie", try CurlHeaders.cookie(request.cookies)) }
        if let condition = context.timeCondition, lines.line(of: condition.name) == nil { fields.append(condition) }
        addCustom(context)
        addBody(context)
    }

    private mutating func add(_ name: String, _ value: String?) {
        if let value { fields.append(CurlHeaderField(name, value)) }
    }

    /// Adds a field that no custom line replaces or removes.
    private mutating func add(_ name: String, _ value: String?, unless lines: [String]) {
        guard let value, lines.line(of: name) == nil else { return }
        fields.append(CurlHeaderField(name, value))
    }

    private static func userAgent(_ request: CurlRequestOptions) -> String? {
        guard let agent = request.userAgent else { return "curl/8.14.1" }
        return agent.isEmpty ? nil : agent
    }

    /// The strings of `-b`. curl refuses more than 8,199 bytes, the most that a cookie may have.
    static func cookie(_ cookies: [String]) throws(CurlError) -> String? {
        guard !cookies.isEmpty else { return nil }
        let value = cookies.joined(separator: ";")
        guard value.utf8.count < 8_200 else {
            throw CurlError(CurlExitCode.tooLargeValue)
        }
        return value
    }

    private mutating func addHost(_ context: CurlHeaderContext) {
        guard context.isFirstHost, let line = context.lines.line(of: "Host") else { return }
        // Blanks after the colon make a field without a value, and the name is written as curl writes it.
        if line.utf8.elementsEqual("Host:".utf8, by: { $0.lowercase == $1.lowercase }) {
            removesHost = true
        } else {
            fields.append(CurlHeaderField(host: String(line.dropFirst(5))))
        }
    }

    /// Range of a download, Content-Range of an upload; a form has neither.
    private mutating func addRange(_ request: CurlRequestOptions, _ context: CurlHeaderContext) {
        guard let range = context.offset.map({ "\($0)-" }) ?? request.range else { return }
        switch context.body {
        case .none: add("Range", "bytes=\(range)", unless: context.lines)
        case .form: break
        case .data, .upload:
            let length = context.body.length ?? -1
            let total = (context.offset ?? 0) + length
            let part = context.offset == nil ? range : "\(range)\(total - 1)"
            add("Content-Range", "bytes \(part)/\(total)", unless: context.lines)
        }
    }

    /// A body of an unknown length is sent in chunks, and any body on HTTP/1.1 if the line Transfer-Encoding says so.
    /// The daemon leaves out the field where the connection turns out to speak HTTP/2.
    private mutating func decideChunks(_ context: CurlHeaderContext) {
        if let value = context.lines.value(of: "Transfer-Encoding") {
            isChunked = value.utf8.hasPrefixIgnoringCase("chunked")
        } else if context.body.length == nil {
            isChunked = true
            add("Transfer-Encoding", "chunked")
        }
    }

    private mutating func addCustom(_ context: CurlHeaderContext) {
        for line in context.lines + (context.usesProxy ? context.proxyLines : []) {
            guard let field = CurlHeaderField(custom: line), isSent(field, context) else { continue }
            fields.append(field)
        }
    }

    private func isSent(_ field: CurlHeaderField, _ context: CurlHeaderContext) -> Bool {
        switch field.name.lowercased() {
        // A line Host is the first field, or Host is added when the request is sent.
        case "host": removesHost
        case "content-type": if case .form = context.body { false } else { true }
        case "authorization", "cookie": context.isTrusted
        default: true
        }
    }

    private mutating func addBody(_ context: CurlHeaderContext) {
        guard context.body != .none else { return }
        if !isChunked, let length = context.body.length { add("Content-Length", "\(length)", unless: context.lines) }
        switch context.body {
        case .form(_, let contentType): add("Content-Type", contentType)
        case .data: add("Content-Type", "application/x-www-form-urlencoded", unless: context.lines)
        case .none, .upload: break
        }
        guard context.lines.line(of: "Expect") == nil,
            context.body.length.map({ $0 > CurlHeaders.expectBytes }) ?? true
        else { return }
        if context.isHTTP2 { mayExpectContinue = true } else { add("Expect", "100-continue") }
    }
}
