internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession
internal import Glibc

/// Writes the response record: all that a client learns of a request.
struct RecordWriter {
    let spool: Spool
    /// Room for a record with a short body, so that the writer's buffer grows at most once.
    private static let usualBytes = 2_048
    /// One hop's metrics with its URL.
    private static let hopBytes = 1_024

    /// The members of the record, for a request in any state.
    func write(_ request: Request, to writer: inout JSONWriter) {
        writer.reserve(RecordWriter.usualBytes)
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
        if let response = request.response { write(response, url: request.url, to: &writer) } else { writer.null() }
        writer.key("body")
        writeBody(request, to: &writer)
        writer.key("metrics")
        writeSummary(request, to: &writer)
        writer.key("attempts")
        writer.beginArray()
        for attempt in request.attempts { write(attempt, to: &writer) }
        writer.endArray()
        writer.endObject()
    }

    /// Makes sure that the record fits a line: a body whose encoded form is too large goes to the spool first. What the rest of the record
    /// takes above its usual room is taken from the body's.
    func fit(_ request: Request, maximumEncodedBytes: Int, usualRest: Int) throws(SessionError) {
        guard case .memory(let bytes) = request.body.storage, !bytes.isEmpty else { return }
        let encoded = bytes.withUnsafeBytes { bytes in
            JSONWriter.isUTF8(bytes) ? JSONWriter.encodedLength(ofText: bytes) : Base64.encodedLength(of: bytes.count)
        }
        let excess = max(0, RecordWriter.restBytes(of: request) - usualRest)
        guard encoded > maximumEncodedBytes - excess else { return }
        try request.spillBody()
    }

    /// About what a record takes without its body: fields with their punctuation, and hops, which are all of nearly one size.
    private static func restBytes(of request: Request) -> Int {
        var bytes = 512
        request.response?.fields.forEach { bytes += $0.count + $1.count + 6 }
        for attempt in request.attempts { bytes += attempt.hops.count * hopBytes }
        return bytes
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
    func write(_ head: ResponseHead, url: String?, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("status", head.status)
        writer.member("http_version", head.httpVersion)
        writer.key("headers")
        writer.beginArray()
        head.fields.forEach { name, value in
            writer.beginArray()
            writer.text(name)
            writer.text(value)
            writer.endArray()
        }
        writer.endArray()
        if let url { writer.member("url", url) }
        writer.endObject()
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
        var (first, last): (TransferMetrics?, TransferMetrics?)
        var hops = 0
        for attempt in request.attempts {
            for hop in attempt.hops {
                hops += 1
                if first == nil { first = hop.metrics }
                last = hop.metrics ?? last
            }
        }
        guard let first, let last else { return writer.null() }
        writer.beginObject()
        writer.member("start", time: first.fetchStart)
        writer.member("duration_us", last.fetchStart &- first.fetchStart &+ Int64(last.endMicroseconds))
        writer.member("attempts", request.attempts.count)
        writer.member("redirects", max(0, hops - request.attempts.count))
        writer.member("reused", last.isReused)
        writer.endObject()
    }

    private func write(_ attempt: Attempt, to writer: inout JSONWriter) {
        writer.beginObject()
        if let hop = attempt.hops.first {
            writer.key("request")
            writer.beginObject()
            writer.member("method", hop.method.rawValue)
            writer.member("url", hop.url.description)
            writer.endObject()
        }
        if let error = attempt.error { writer.member("error", error.name) }
        writer.key("metrics")
        writer.beginArray()
        for hop in attempt.hops {
            if let metrics = hop.metrics { write(metrics, of: hop, to: &writer) }
        }
        writer.endArray()
        writer.endObject()
    }

    /// One hop: times in microseconds from its start, null where a step did not happen.
    func write(_ metrics: TransferMetrics, of hop: Hop, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("url", hop.url.description)
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
        writer.string(address.utf8.contains(UInt8(ascii: ":")) ? "[\(address)]:\(port)" : "\(address):\(port)")
    }
}
