internal import CarpoolExchange
internal import CarpoolJSON
internal import CarpoolSystem

/// One exchange of a transfer, as the parameters of `request.perform`.
struct CurlExchange {
    /// The source of the body.
    enum Body {
        case none
        /// Bytes that go with the call.
        case bytes([UInt8])
        /// Bytes and whole files, whose descriptors go with the call in their order.
        case pieces([Piece])
        /// The descriptor of the call: the first byte of a file, and how many there are if that is known.
        case descriptor(offset: Int64, length: Int64?)
    }

    /// A piece of a body.
    enum Piece {
        case bytes([UInt8])
        case file(offset: Int64, length: Int64)
    }

    let operation: CurlPreparedOperation
    let hop: CurlHop
    let headers: CurlHeaders
    let proxy: CurlProxy?
    var body = Body.none
    /// What is left of `-m`.
    var milliseconds: Int?
    /// The longest time without a byte.
    var idleMilliseconds: Int?
    /// The cookies of the command; `nil` if no cookies are kept.
    var cookies: CurlCookies.Jar?
    /// The most bytes of a body that comes with the record instead of the pipe.
    var inlineBytes = CurlExchange.maximumInlineBytes
    /// Whether the record has the details of connections.
    var needsMetrics = false
    /// Whether these tell of the server's certificates.
    var needsCertificates = false
    /// The servers whose challenge comes before the body.
    var challengers: [String] = []
    /// Whether the daemon reports how much of the body it has sent.
    var isMetered = false
    /// Whether a proxy's answers to CONNECT are wanted.
    var needsConnectHeads: Bool { proxy?.isTunnel ?? false }
    /// The session that has the settings of connections; `nil` if the request has them.
    var session: String?
    /// The call that has to succeed before the request begins.
    var predecessor: Int64?

    /// The daemon's maximum.
    static let maximumInlineBytes = 32_768
    /// The daemon's maximum of the pieces of a body.
    static let maximumPieces = 256
    /// The session of all exchanges without a session of their own. Its settings change nothing of a request.
    private static let commonSession = "carpool-curl"
    /// curl waits for a connection 300 s, and has no other limit; 30 days are the daemon's maximum.
    static let defaultConnectMilliseconds = 300_000
    static let maximumMilliseconds = 2_592_000_000

    /// The daemon's maximum of decoded bytes for a received one: curl has no limit, and the body is not kept.
    static let maximumRatio = 1_000_000

    /// More than the 50 transfers that curl runs in parallel by default (`--parallel-max`).
    private static let connectionsPerHost = 64

    /// Writes the parameters of `session.create`.
    static func writeSession(
        _ name: String = commonSession, lifetime: String? = nil, to writer: inout JSONWriter,
        settings: (inout JSONWriter) -> Void = { _ in }
    ) {
        writer.beginObject()
        writer.member("name", name)
        writer.member("lifetime", lifetime)
        writer.key("configuration")
        writer.beginObject()
        writer.key("languages")
        writer.beginArray()
        writer.endArray()
        DecodingRule.never.write(to: &writer)
        writer.member("max_ratio", maximumRatio)
        writer.member("redirect", static: "do_not_follow")
        writer.member("url_encoding", static: "exact")
        writer.member("connections_per_host", connectionsPerHost)
        writer.member("timeout_ms", maximumMilliseconds)
        writer.member("resource_timeout_ms", maximumMilliseconds)
        writer.member("connect_timeout_ms", defaultConnectMilliseconds)
        settings(&writer)
        writer.endObject()
        writer.endObject()
    }

    /// The URL as it is sent: without user, password and fragment.
    private var target: String {
        var url = hop.url
        url.user = nil
        url.password = nil
        url.fragment = nil
        return url.text
    }

    /// Writes the parameters of `request.perform`.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("url", target)
        writer.member("method", hop.method)
        writer.member("session", session ?? CurlExchange.commonSession)
        writer.member("after", predecessor)
        writeFields(to: &writer)
        writeBody(to: &writer)
        writeCredential(to: &writer)
        if session == nil { operation.settings.write(for: hop.url, to: &writer) }
        if let proxy {
            writer.key("proxy")
            proxy.write(to: &writer)
        }
        writeConnection(to: &writer)
        writeResponse(to: &writer)
        cookies?.write(to: &writer)
        writer.endObject()
    }

    private func writeFields(to writer: inout JSONWriter) {
        writer.member("default_headers", false)
        guard !headers.fields.isEmpty else { return }
        writer.key("headers")
        writer.beginArray()
        for field in headers.fields {
            writer.beginArray()
            if field.hasOwnBlanks {
                writer.string(field.name + ":")
                writer.string(String(Substring(field.line.utf8.dropFirst(field.name.utf8.count + 1))))
            } else {
                writer.string(field.name)
                writer.string(field.value)
            }
            writer.endArray()
        }
        writer.endArray()
    }

    private func writeBody(to writer: inout JSONWriter) {
        switch body {
        case .none: return
        case .bytes(let bytes):
            writer.key("body")
            writer.beginObject()
            writer.key("base64")
            bytes.withUnsafeBytes { writer.base64($0) }
        case .pieces(let pieces):
            writer.key("body")
            writer.beginObject()
            CurlExchange.write(pieces, to: &writer)
        case .descriptor(let offset, let length):
            writer.key("body")
            writer.beginObject()
            writer.member("fd", 0)
            if offset > 0 { writer.member("offset", offset) }
            writer.member("length_bytes", length)
        }
        writer.endObject()
        if headers.mayExpectContinue { writer.member("expect_continue", true) }
        // A body with every method.
        writer.member("kind", static: "upload")
        guard isMetered else { return }
        writer.key("events")
        writer.beginObject()
        writer.member("types", ["request.upload_progress"])
        writer.endObject()
    }

    private static func write(_ pieces: [Piece], to writer: inout JSONWriter) {
        writer.key("pieces")
        writer.beginArray()
        var descriptor = 0
        for piece in pieces {
            writer.beginObject()
            switch piece {
            case .bytes(let bytes):
                writer.key("base64")
                bytes.withUnsafeBytes { writer.base64($0) }
            case .file(let offset, let length):
                writer.member("fd", descriptor)
                if offset > 0 { writer.member("offset", offset) }
                writer.member("length_bytes", length)
                descriptor += 1
            }
            writer.endObject()
        }
        writer.endArray()
    }

    /// Writes the credential of schemes that answer a challenge; that of Basic is a field.
    private func writeCredential(to writer: inout JSONWriter) {
        let schemes = operation.options.security.schemes
        guard !schemes.isEmpty, schemes != ["basic"], let user = hop.login.user, hop.sendsLogin else { return }
        writer.key("credential")
        writer.beginObject()
        writer.member("username", user)
        writer.member("password", hop.login.password ?? "")
        writer.member("schemes", schemes)
        writer.endObject()
    }

    private func writeConnection(to writer: inout JSONWriter) {
        let connection = operation.options.connection
        switch connection.version {
        case .http11: writer.member("http_version", static: "1.1")
        case .http2, nil: break
        }
        writer.member("connect_timeout_ms", connection.connectMilliseconds)
        writer.member("resource_timeout_ms", milliseconds)
        writer.member("timeout_ms", idleMilliseconds)
    }

    private func writeResponse(to writer: inout JSONWriter) {
        let options = operation.options
        writer.key("response_body")
        writer.beginObject()
        writer.member("fd", static: "on_demand")
        writer.member("inline_bytes", inlineBytes)
        writer.member("heads", true)
        if needsConnectHeads { writer.member("connect_heads", true) }
        if options.request.isRaw { writer.member("transfer_coding", true) }
        writer.endObject()
        if options.request.isCompressed, !options.request.isRaw { DecodingRule.always.write(to: &writer) }
        if !needsMetrics { writer.member("detail", static: "short") }
        if needsCertificates { writer.member("certificates", true) }
        if !challengers.isEmpty { writer.member("body_after_challenge", challengers) }
    }
}
