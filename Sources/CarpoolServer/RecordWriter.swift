internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession
internal import Glibc

/// Writes the response record: all that a client learns of a request.
struct RecordWriter {
    let spool: Spool
    /// Room for a record with a short body, so that the writer's buffer grows at most once.
    private static let usualBytes = 2_048

    /// How much of what others have chosen the length of is written.
    struct Detail {
        /// Bytes of a head's fields, as they are written.
        var headerBytes = Int.max
        /// Bytes of each URL.
        var urlBytes = Int.max
        /// Hops of an attempt, from the last one back.
        var hops = Int.max

        /// All of it.
        static let whole = Detail()

        /// What fits a line, whatever comes: a quarter for the fields, and for the hops, which have at most 1 KiB besides their URL, what is
        /// surely less than a half.
        static func fitting(_ lineBytes: Int) -> Detail {
            Detail(headerBytes: lineBytes / 4, urlBytes: min(512, lineBytes / 16), hops: max(1, lineBytes / 4_096))
        }
    }

    /// What fits an event, which is encoded once for all who want it.
    var eventDetail: Detail { .fitting(spool.limits.lineBytes - 1_024) }

    /// Writes the record of a request in any state. One that would be longer than the limit is written again with its body in a file, the
    /// fields that fit, and the beginnings of its URLs.
    func write(_ request: Request, atMost limit: Int, to writer: inout JSONWriter) {
        let start = writer.count
        writer.reserve(RecordWriter.usualBytes)
        write(request, .whole, to: &writer)
        guard writer.count - start > limit else { return }
        // If the spool is full, the body is told to be gone: a line that the client cannot read would be worse.
        do throws(SessionError) { try request.spillBody() } catch { request.discardBody() }
        writer.rewind(to: start)
        write(request, .fitting(limit), to: &writer)
    }

    private func write(_ request: Request, _ detail: Detail, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("request", request.id)
        writer.member("state", request.state.rawValue)
        guard request.isFinished else {
            writer.member("finished", false)
            writer.endObject()
            return
        }
        writer.key("outcome")
        writeOutcome(request, to: &writer)
        writer.key("response")
        if let response = request.response {
            write(response, url: request.url, detail, to: &writer)
        } else {
            writer.null()
        }
        writer.key("body")
        writeBody(request, to: &writer)
        writer.key("metrics")
        writeSummary(request, to: &writer)
        writer.key("attempts")
        writer.beginArray()
        for attempt in request.attempts { write(attempt, detail, to: &writer) }
        writer.endArray()
        writer.endObject()
    }

    /// Makes sure that the record fits a line: a body whose encoded form is too large goes to the spool first.
    func fit(_ request: Request, maximumEncodedBytes: Int) throws(SessionError) {
        guard case .memory(let bytes) = request.body.storage, !bytes.isEmpty else { return }
        // The longest form of a byte has six.
        guard bytes.count > maximumEncodedBytes / 6 &- 2 else { return }
        let encoded = bytes.withUnsafeBytes { bytes in
            JSONWriter.isUTF8(bytes) ? JSONWriter.encodedLength(ofText: bytes) : Base64.encodedLength(of: bytes.count)
        }
        guard encoded > maximumEncodedBytes else { return }
        try request.spillBody()
    }

    private func writeOutcome(_ request: Request, to writer: inout JSONWriter) {
        writer.beginObject()
        if let error = request.error {
            writer.member("ok", false)
            writer.key("error")
            write(error, to: &writer)
        } else {
            writer.member("ok", true)
        }
        writer.endObject()
    }

    /// The one form of a failure, here and in events.
    func write(_ error: SessionError, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("code", error.code)
        writer.member("name", error.name)
        writer.member("message", error.message)
        writer.member("retryable", error.isRetryable)
        if let hint = error.hint { writer.member("hint", hint) }
        if let transport = error.transport {
            if let timeout = transport.timeout { writer.member("timeout", timeout) }
            if let code = transport.curlCode {
                writer.key("curl")
                writer.beginObject()
                writer.member("code", Int(code))
                if let text = transport.curlText { writer.member("text", text) }
                writer.endObject()
            }
            if let code = transport.systemCode { writer.member("errno", Int(code)) }
        }
        writer.endObject()
    }

    /// Status, version, fields in order, and where they came from.
    func write(_ head: ResponseHead, url: String?, _ detail: Detail = .whole, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("status", head.status)
        writer.member("http_version", head.httpVersion)
        writer.key("headers")
        writer.beginArray()
        let start = writer.count
        var isWhole = true
        head.fields.forEach { name, value in
            guard isWhole else { return }
            let before = writer.count
            writer.beginArray()
            writer.text(name)
            writer.text(value)
            writer.endArray()
            guard writer.count - start > detail.headerBytes else { return }
            writer.rewind(to: before)
            isWhole = false
        }
        writer.endArray()
        if !isWhole { writer.member("truncated", true) }
        if let url { write(url: url, detail, to: &writer) }
        writer.endObject()
    }

    /// A URL, or its beginning.
    func write(url: String, _ detail: Detail, to writer: inout JSONWriter) {
        writer.member("url", BoundedText.of(url, bytes: detail.urlBytes))
    }

    private func writeBody(_ request: Request, to writer: inout JSONWriter) {
        writer.beginObject()
        switch request.body.storage {
        case .memory(let bytes) where bytes.isEmpty:
            if request.body.count == 0 { writer.member("none", true) } else { writer.member("gone", true) }
        case .memory(let bytes):
            bytes.withUnsafeBytes { bytes in
                if JSONWriter.isUTF8(bytes) {
                    writer.key("text")
                    writer.string(utf8: bytes)
                } else {
                    writer.key("base64")
                    writer.base64(bytes)
                }
            }
        case .file(let file):
            if let path = file.path, let body = spool.body(of: request.id) {
                writer.member("file", path)
                if let expires = body.expires { writer.member("expires", time: expires) }
            } else {
                writer.member("gone", true)
            }
        }
        writer.member("size_bytes", request.body.count)
        writer.endObject()
    }

    private func writeSummary(_ request: Request, to writer: inout JSONWriter) {
        // Only numbers are taken out of the metrics: a copy of all of them costs more than what is written here.
        var (start, end): (Int64?, Int64) = (nil, 0)
        var (hops, isReused) = (0, false)
        for attempt in request.attempts {
            for hop in attempt.hops.indices {
                hops += 1
                guard let fetchStart = attempt.hops[hop].metrics?.fetchStart else { continue }
                start = start ?? fetchStart
                end = fetchStart &+ Int64(attempt.hops[hop].metrics?.endMicroseconds ?? 0)
                isReused = attempt.hops[hop].metrics?.isReused ?? false
            }
        }
        guard let start else { return writer.null() }
        writer.beginObject()
        writer.member("start", time: start)
        writer.member("duration_us", end &- start)
        writer.member("attempts", request.attempts.count)
        writer.member("redirects", max(0, hops - request.attempts.count))
        writer.member("reused", isReused)
        writer.endObject()
    }

    private func write(_ attempt: Attempt, _ detail: Detail, to writer: inout JSONWriter) {
        writer.beginObject()
        if let hop = attempt.hops.first {
            writer.key("request")
            writer.beginObject()
            writer.member("method", hop.method.rawValue)
            write(url: hop.url.description, detail, to: &writer)
            writer.endObject()
        }
        if let error = attempt.error { writer.member("error", error.name) }
        writer.key("metrics")
        writer.beginArray()
        for hop in attempt.hops.suffix(detail.hops) {
            if let metrics = hop.metrics { write(metrics, of: hop, detail, to: &writer) }
        }
        writer.endArray()
        if attempt.hops.count > detail.hops { writer.member("truncated", true) }
        writer.endObject()
    }

    /// One hop: times in microseconds from its start, null where a step did not happen.
    private func write(_ metrics: TransferMetrics, of hop: Hop, _ detail: Detail, to writer: inout JSONWriter) {
        writer.beginObject()
        write(url: hop.url.description, detail, to: &writer)
        if let status = hop.response?.status { writer.member("status", status) }
        write(metrics, to: &writer)
        writer.endObject()
    }

    /// The members of one hop's metrics.
    func write(_ metrics: TransferMetrics, to writer: inout JSONWriter) {
        writer.member("fetch_start", time: metrics.fetchStart)
        writer.member("queued_us", metrics.queuedMicroseconds)
        write("dns_us", metrics.resolvedMicroseconds, to: &writer)
        write("connect_us", metrics.connectedMicroseconds, to: &writer)
        write("tls_us", metrics.securedMicroseconds, to: &writer)
        write("request_us", metrics.requestMicroseconds, to: &writer)
        write("first_byte_us", metrics.firstByteMicroseconds, to: &writer)
        writer.member("end_us", metrics.endMicroseconds)
        writer.member("reused", metrics.isReused)
        write("connection", metrics.connection, to: &writer)
        if let version = metrics.httpVersion { writer.member("http_version", version) }
        if let version = metrics.tlsVersion {
            writer.key("tls")
            writer.beginObject()
            writer.member("version", version)
            if let cipher = metrics.tlsCipher { writer.member("cipher", cipher) }
            writer.endObject()
        }
        write("remote", metrics.remoteAddress, metrics.remotePort, to: &writer)
        write("local", metrics.localAddress, metrics.localPort, to: &writer)
        writer.member("request_header_bytes", metrics.requestHeaderBytes)
        writer.member("request_body_bytes", metrics.requestBodyBytes)
        writer.member("response_header_bytes", metrics.responseHeaderBytes)
        writer.member("response_body_bytes", metrics.responseBodyBytes)
        writer.member("decoded_body_bytes", metrics.decodedBodyBytes)
    }

    private func write(_ name: StaticString, _ value: Int?, to writer: inout JSONWriter) {
        writer.key(name)
        if let value { writer.integer(value) } else { writer.null() }
    }

    private func write(_ name: StaticString, _ address: String?, _ port: UInt16, to writer: inout JSONWriter) {
        guard let address else { return }
        writer.key(name)
        // An IPv6 address is told by its colons; the first comes within five bytes (RFC 4291, section 2.2).
        let isIPv6 = address.utf8.prefix(5).contains(UInt8(ascii: ":"))
        writer.string(isIPv6 ? "[\(address)]:\(port)" : "\(address):\(port)")
    }
}
