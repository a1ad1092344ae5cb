internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession

// The attempts: requests, metrics and redirects.
extension RecordWriter {
    /// Fields of a request as pairs, as many as fit.
    func write(_ fields: [HTTPField], _ detail: Detail, to writer: inout JSONWriter) {
        writer.key("headers")
        writer.beginArray()
        let start = writer.count
        var isWhole = true
        for field in fields {
            let before = writer.count
            writer.beginArray()
            writer.string(field.name)
            writer.string(disclosure?.shown(field.value, of: field.name) ?? field.value)
            writer.endArray()
            guard writer.count - start > detail.headerBytes else { continue }
            writer.rewind(to: before)
            isWhole = false
            break
        }
        writer.endArray()
        if !isWhole { writer.member("truncated", true) }
    }

    /// A request's fields, with the one that the transport adds where it decodes.
    private static func sentFields(of request: TransportRequest) -> [HTTPField] {
        guard request.isDecoded,
            let field = try? HTTPField(name: "Accept-Encoding", value: TransportRequest.acceptEncoding)
        else { return request.fields }
        return request.fields + [field]
    }

    private func write(
        _ sent: TransportRequest, of request: Request, _ detail: Detail, to writer: inout JSONWriter
    ) {
        writer.key("request")
        writer.beginObject()
        writer.member("method", sent.method.rawValue)
        write(url: sent.url.description, detail, to: &writer)
        if detail.level == .full {
            write(request.shown(RecordWriter.sentFields(of: sent)), detail, to: &writer)
        }
        writer.endObject()
    }

    /// All attempts.
    func writeAttempts(of request: Request, _ detail: Detail, to writer: inout JSONWriter) {
        var detail = detail
        writer.key("attempts")
        writer.beginArray()
        // The room for hops is shared by all attempts; the last ones matter most.
        let first = max(0, request.attempts.count - detail.hops)
        detail.hops = max(1, detail.hops / max(1, request.attempts.count - first))
        // By index: a copy of an attempt costs more than what is written of it.
        for i in first..<request.attempts.count { write(request.attempts[i], of: request, detail, to: &writer) }
        writer.endArray()
        if first > 0 { writer.member("truncated", true) }
    }

    /// The statuses of redirects that are followed.
    private static let followedStatuses: Set<Int> = [301, 302, 303, 307, 308]

    /// The method and the URL of the last attempt, and the responses that redirected it: each with where it came from,
    /// where it leads and what cookies it sets.
    func writeRedirects(of request: Request, _ detail: Detail, to writer: inout JSONWriter) {
        guard let last = request.attempts.indices.last else { return }
        if let sent = request.attempts[last].request ?? request.attempts[last].initialRequest {
            writer.member("method", sent.method.rawValue)
            write(url: sent.url.description, detail, to: &writer)
        }
        let end = request.attempts[last].hops.count - 1
        guard end > 0 else { return }
        var detail = detail
        detail.headerBytes /= end
        writer.key("redirects")
        writer.beginArray()
        for index in max(0, end - detail.hops)..<end {
            guard let response = request.attempts[last].hops[index].response,
                RecordWriter.followedStatuses.contains(response.status)
            else { continue }
            write(response, url: request.attempts[last].hops[index].url.description, detail, to: &writer)
        }
        writer.endArray()
        if end > detail.hops { writer.member("truncated", true) }
    }

    private func write(_ attempt: Attempt, of request: Request, _ detail: Detail, to writer: inout JSONWriter) {
        writer.beginObject()
        if let sent = attempt.request {
            write(sent, of: request, detail, to: &writer)
        } else if let initial = attempt.initialRequest {
            write(initial, of: request, detail, to: &writer)
        }
        if detail.level == .full, let response = attempt.response {
            writer.key("response")
            write(response, url: attempt.hops.last?.url.description, detail, to: &writer)
        }
        if let error = attempt.error { writer.member("error", error.name) }
        writer.key("metrics")
        writer.beginArray()
        for index in max(0, attempt.hops.count - detail.hops)..<attempt.hops.count {
            write(attempt.hops[index], detail, isRecord: true, to: &writer)
        }
        writer.endArray()
        if attempt.hops.count > detail.hops { writer.member("truncated", true) }
        writer.endObject()
    }

    /// One hop: times in microseconds from its start, null where a step did not happen.
    /// - Parameter isRecord: whether it is part of a record, which has the certificates, the names of the cookies and
    ///   what the cache did; events have none of them.
    func write(_ hop: Hop, _ detail: Detail, isRecord: Bool = false, to writer: inout JSONWriter) {
        guard let metrics = hop.metrics else { return }
        writer.beginObject()
        write(url: hop.url.description, detail, to: &writer)
        if let status = hop.response?.status { writer.member("status", status) }
        write(metrics, to: &writer)
        if isRecord, detail.hasCertificates, let certificates = metrics.certificates {
            write(certificates: certificates, to: &writer)
        }
        if isRecord, hop.hasCookies {
            writer.key("cookies")
            writer.beginArray()
            hop.forEachCookieName { writer.text($0) }
            writer.endArray()
        }
        if isRecord, let outcome = metrics.cache { CacheWriter.write(outcome, to: &writer) }
        writer.endObject()
    }

    /// The members of one hop's metrics.
    private func write(_ metrics: TransferMetrics, to writer: inout JSONWriter) {
        writer.member("fetch_start", time: metrics.fetchStart)
        writer.member("queued_us", metrics.queuedMicroseconds)
        write("dns_us", metrics.resolvedMicroseconds, to: &writer)
        write("connect_us", metrics.connectedMicroseconds, to: &writer)
        write("tls_us", metrics.securedMicroseconds, to: &writer)
        write("request_us", metrics.requestMicroseconds, to: &writer)
        write("first_byte_us", metrics.firstByteMicroseconds, to: &writer)
        writer.member("end_us", metrics.endMicroseconds)
        writer.member("reused", metrics.isReused)
        if let reason = metrics.newConnectionReason { writer.member("new_connection", reason.rawValue) }
        write("connection", metrics.connection, to: &writer)
        if let version = metrics.httpVersion { writer.member("http_version", version) }
        if let version = metrics.tlsVersion {
            writer.key("tls")
            writer.beginObject()
            writer.member("version", version)
            if let cipher = metrics.tlsCipher { writer.member("cipher", cipher) }
            if let certificate = metrics.clientCertificate {
                writer.key("client_certificate")
                ClientCertificateWriter.write(certificate.summary, to: &writer)
            }
            if !metrics.isServerVerified { writer.member("verified", false) }
            writer.endObject()
        }
        if metrics.verification.server != 0 { writer.member("verify_result", metrics.verification.server) }
        if metrics.verification.proxy != 0 { writer.member("proxy_verify_result", metrics.verification.proxy) }
        if let status = metrics.connectStatus { writer.member("connect_status", status) }
        if let proxy = metrics.proxy { writer.member("proxy", proxy.description) }
        write("remote", metrics.remoteAddress, metrics.remotePort, to: &writer)
        write("local", metrics.localAddress, metrics.localPort, to: &writer)
        writer.member("request_header_bytes", metrics.requestHeaderBytes)
        writer.member("request_body_bytes", metrics.requestBodyBytes)
        writer.member("response_header_bytes", metrics.responseHeaderBytes)
        writer.member("response_body_bytes", metrics.responseBodyBytes)
        writer.member("decoded_body_bytes", metrics.decodedBodyBytes)
    }

    private func write(certificates: [[String]], to writer: inout JSONWriter) {
        writer.key("certificates")
        writer.beginArray()
        for lines in certificates {
            writer.beginArray()
            for line in lines { writer.string(line) }
            writer.endArray()
        }
        writer.endArray()
    }

    private func write(_ name: StaticString, _ value: Int?, to writer: inout JSONWriter) {
        writer.key(name)
        if let value { writer.integer(value) } else { writer.null() }
    }

    private func write(_ name: StaticString, _ address: String?, _ port: UInt16, to writer: inout JSONWriter) {
        guard let address, !address.isEmpty else { return }
        // A connection over a Unix socket has the socket's path alone, and no address of this end.
        guard !address.hasPrefix("unix:") else { return writer.member(name, address) }
        writer.key(name)
        // An IPv6 address is recognized by its colons; the first is among the first five bytes (RFC 4291, section 2.2).
        let isIPv6 = address.utf8.prefix(5).contains(UInt8(ascii: ":"))
        writer.string(isIPv6 ? "[\(address)]:\(port)" : "\(address):\(port)")
    }

    /// What the cache did, and the jar of a request that exports it, in a record that begins at `start`.
    func writeCacheAndCookies(of request: Request, _ detail: Detail, from start: Int, to writer: inout JSONWriter) {
        if let outcome = request.cacheOutcome { CacheWriter.write(outcome, to: &writer) }
        writeCookies(of: request, detail, from: start, to: &writer)
    }

    /// The jar of a request that exports it, only for the client that made the request. Its changes, which are in no
    /// other place once the request is over, may fill the record but for what follows them.
    func writeCookies(of request: Request, _ detail: Detail, from start: Int, to writer: inout JSONWriter) {
        guard let export = request.parameters.cookies?.export, let cookies = request.exportedCookies,
            disclosure?.mayShowSecret() ?? true
        else { return }
        writer.key("cookies")
        writer.beginObject()
        let room = detail.recordBytes - (writer.count - start) - RecordWriter.bytesAfterCookies
        let limit = export == .changes ? max(detail.headerBytes, room) : detail.headerBytes
        CookieWriter.writeMembers(cookies, as: export, atMost: limit, to: &writer)
        writer.endObject()
    }
}
