internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession
internal import Glibc

/// Writes the response record of a request.
struct RecordWriter {
    let spool: Spool
    /// The reader's rights; `nil` for the client that made the request, which may read everything.
    var disclosure: Disclosure?
    /// Room for a record with a short body, so that the writer's buffer grows at most once.
    private static let usualBytes = 2_048
    /// Room for what follows the cookies: a warning, and points in time.
    static let bytesAfterCookies = 4_096

    /// Truncation limits for fields whose length a peer controls.
    struct Detail {
        /// Bytes of a head's fields, as they are written.
        var headerBytes = Int.max
        /// Bytes of each URL.
        var urlBytes = Int.max
        /// Hops of all attempts, from the last one back.
        var hops = Int.max

        /// Bytes of the record, as far as heads that are written as they were received may fill it.
        var recordBytes = Int.max
        /// Bytes of each value that a serializer made.
        var valueBytes = Int.max
        /// Whether a body in memory is written; if not, it is marked as gone.
        var hasBody = true
        /// Whether what is known of certificates is written.
        var hasCertificates = true
        /// Which parts are written.
        var level = RecordLevel.standard

        /// The default.
        static let whole = Detail()

        /// Limits that always fit a line: a quarter for the fields, and less than a half for the hops, which have at
        /// most 1 KiB besides their URL.
        static func fitting(_ lineBytes: Int) -> Detail {
            Detail(
                headerBytes: lineBytes / 4, urlBytes: min(512, lineBytes / 16), hops: max(1, lineBytes / 4_096),
                recordBytes: lineBytes, valueBytes: lineBytes / 4, hasCertificates: false)
        }
    }

    /// The writer for a client that did not make the request: secrets are hidden.
    var forOthers: RecordWriter {
        var writer = self
        writer.disclosure = Disclosure()
        return writer
    }

    /// Limits for an event, which is encoded once for all subscribers.
    var eventDetail: Detail { .fitting(spool.limits.lineBytes - 1_024) }

    /// Writes the record of a request in any state. One that would be longer than the limit is written again without
    /// its body, which was moved to a file before (``mustSpill(_:maximumEncodedBytes:recordBytes:results:level:)``),
    /// with the fields that fit, and the beginnings of its URLs. Other results than the request's own are what
    /// serializers made later.
    func write(
        _ request: Request, results: [SerializedResponse]? = nil, level: RecordLevel = .standard,
        atMost limit: Int, to writer: inout JSONWriter
    ) {
        let start = writer.count
        guard !fits(request, results, level, limit, in: &writer) else { return }
        writer.rewind(to: start)
        var detail = Detail.fitting(limit)
        detail.hasBody = false
        detail.level = level
        // A whole record has the fields of every attempt twice besides: they share the room.
        if level == .full { detail.headerBytes /= 1 &+ 2 &* min(request.attempts.count, detail.hops) }
        write(request, failure(of: request, results), results ?? request.results, detail, to: &writer)
    }

    /// Writes the whole record; `false` if it is longer than the limit.
    func fits(
        _ request: Request, _ results: [SerializedResponse]?, _ level: RecordLevel, _ limit: Int,
        in writer: inout JSONWriter
    ) -> Bool {
        let start = writer.count
        writer.reserve(RecordWriter.usualBytes)
        var detail = Detail.whole
        detail.level = level
        detail.valueBytes = limit
        write(request, failure(of: request, results), results ?? request.results, detail, to: &writer)
        return writer.count - start <= limit
    }

    /// Later serializers report their own failures, and not those of the request.
    private func failure(of request: Request, _ results: [SerializedResponse]?) -> SessionError? {
        results.map { request.responseFailure ?? $0.lazy.compactMap(\.error).first } ?? request.error
    }

    private func write(
        _ request: Request, _ failure: SessionError?, _ results: [SerializedResponse], _ detail: Detail,
        to writer: inout JSONWriter
    ) {
        let start = writer.count
        writer.beginObject()
        writer.member("request", request.id)
        writer.member("state", request.state.rawValue)
        guard request.isFinished else {
            writeProgress(request, detail, to: &writer)
            if detail.level != .standard { writeRedirects(of: request, detail, to: &writer) }
            if request.isPausedAtHead, request.parameters.cookies?.export == .changes {
                writeCookies(of: request, detail, from: start, to: &writer)
            }
            writer.endObject()
            return
        }
        writer.key("outcome")
        writeOutcome(failure, results, detail, to: &writer)
        writer.key("response")
        if let response = request.response {
            write(response, url: request.url, detail, to: &writer)
        } else {
            writer.null()
        }
        writer.key("body")
        writeBody(request, detail, to: &writer)
        writer.key("metrics")
        writeSummary(request, to: &writer)
        if detail.level != .standard { writeRedirects(of: request, detail, to: &writer) }
        if detail.level != .short { writeAttempts(of: request, detail, to: &writer) }
        writeDownload(request, to: &writer)
        writeCacheAndCookies(of: request, detail, from: start, to: &writer)
        if let warning = request.warning { writer.member("warning", warning) }
        if detail.level == .full { write(request.timeline, to: &writer) }
        if let heads = request.heads {
            write(heads, of: request, atMost: detail.recordBytes - (writer.count - start), to: &writer)
        }
        writer.endObject()
    }

    /// Writes the progress of an active request.
    private func writeProgress(_ request: Request, _ detail: Detail, to writer: inout JSONWriter) {
        writer.member("finished", false)
        if request.isPausedAtHead { writer.member("held", true) }
        if request.retryCount > 0 { writer.member("retry_count", request.retryCount) }
        if let sent = request.sentBody {
            writer.member("sent_bytes", sent.sentBytes)
            writer.member("sent_total_bytes", sent.totalBytes)
        }
        if let download = request.download {
            writer.member("received_bytes", download.count)
            writer.member("total_bytes", download.total)
            writeDownload(request, to: &writer)
        } else if request.receivedBytes > 0 {
            writer.member("received_bytes", request.receivedBytes)
            writer.member("total_bytes", request.expectedBytes)
        }
        guard let response = request.response else { return }
        writer.key("response")
        write(response, url: request.url, detail, to: &writer)
    }

    private func write(_ timeline: Timeline, to writer: inout JSONWriter) {
        writer.key("timeline")
        writer.beginObject()
        if let time = timeline.requestStart { writer.member("request_start", time: time) }
        if let time = timeline.initialResponse { writer.member("initial_response", time: time) }
        if let time = timeline.requestCompleted { writer.member("request_completed", time: time) }
        if let time = timeline.serializationCompleted { writer.member("serialization_completed", time: time) }
        writer.member("latency_us", timeline.latency)
        writer.member("request_duration_us", timeline.requestDuration)
        writer.member("serialization_duration_us", timeline.serializationDuration)
        writer.member("total_duration_us", timeline.totalDuration)
        writer.endObject()
    }

    /// Status, version, fields in order, and where they came from.
    func write(
        _ head: ResponseHead, url: String?, _ detail: Detail = .whole, to writer: inout JSONWriter
    ) {
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
            writeValue(value, of: name, to: &writer)
            writer.endArray()
            guard writer.count - start > detail.headerBytes else { return }
            writer.rewind(to: before)
            isWhole = false
        }
        writer.endArray()
        if !isWhole || head.isTruncated { writer.member("truncated", true) }
        if let url { write(url: url, detail, to: &writer) }
        writer.endObject()
    }

    private func writeValue(
        _ value: UnsafeRawBufferPointer, of name: UnsafeRawBufferPointer, to writer: inout JSONWriter
    ) {
        guard let disclosure else { return writer.text(value) }
        let text = String(decoding: value, as: UTF8.self)
        let shown = disclosure.shown(text, of: String(decoding: name, as: UTF8.self))
        if shown == text { writer.text(value) } else { writer.string(shown) }
    }

    /// A text as this writer's reader may see it.
    func shown(_ text: String) -> String { disclosure?.shown(text) ?? text }

    /// A URL, or its beginning.
    func write(url: String, _ detail: Detail, to writer: inout JSONWriter) {
        writer.member("url", TruncatedText.of(shown(url), bytes: detail.urlBytes))
    }

    private func writeBody(_ request: Request, _ detail: Detail, to writer: inout JSONWriter) {
        writer.beginObject()
        switch request.body.storage {
        case .memory where request.hasWrittenToDescriptor: writer.member("fd", true)
        case .memory(let bytes) where bytes.isEmpty || !detail.hasBody:
            let wasKept = request.body.count > 0 && request.stream == nil
            if wasKept { writer.member("gone", true) } else { writer.member("none", true) }
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
            if let path = file.path {
                writer.member("file", path)
                if let expires = spool.body(of: request.id)?.expires { writer.member("expires", time: expires) }
            } else {
                writer.member("gone", true)
            }
        }
        writer.member("size_bytes", request.body.count)
        if let hash = request.body.hash { writer.member("sha256", Hexadecimal.text(hash)) }
        writer.endObject()
    }

    /// Writes how a download got its bytes, and what it can be resumed with.
    private func writeDownload(_ request: Request, to writer: inout JSONWriter) {
        guard let download = request.download else { return }
        // The token's owner can resume the download and read the file.
        if let token = request.resumeData, disclosure?.mayShowSecret() ?? true { writer.member("resume_data", token) }
        writer.member("resumed_at_bytes", download.resumedAt)
        if let reason = download.restartReason { writer.member("restarted", reason.rawValue) }
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
        if let outcome = request.cacheOutcome {
            writer.member("resource_fetch_type", CacheWriter.fetchType(of: outcome))
        }
        writer.endObject()
    }
}
