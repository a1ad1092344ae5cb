internal import CarpoolJSON

/// Collects what `-w` prints of a transfer, from the records of its exchanges.
struct CurlReporter {
    private(set) var report = CurlReport()

    init(_ transfer: CurlPlannedTransfer) {
        report.number = transfer.number
        report.urlNumber = transfer.urlNumber
        report.url = transfer.url
    }

    mutating func update(_ change: (inout CurlReport) -> Void) { change(&report) }

    /// Takes a request before it is sent.
    mutating func begin(_ hop: CurlHop, usesProxy: Bool) {
        report.method = hop.method
        report.effectiveURL = hop.url.text
        report.scheme = hop.url.scheme
        report.redirects = hop.redirects
        report.referer = hop.referer
        report.usesProxy = usesProxy
        report.redirectURL = nil
    }

    /// Takes the head of a response.
    mutating func take(_ head: CurlResponseHead) {
        report.status = head.status
        report.httpVersion = head.version
        report.contentType = head.value("Content-Type")
        report.headers = head.fields
        report.headerBytes += Int64(head.raw.count)
    }

    /// Takes the record of an exchange: its times add up over redirects.
    mutating func take(_ record: JSON) {
        report.proxyStatus = report.proxyStatus
        record["attempts"]?.forEachElement { attempt in
            attempt["metrics"]?.forEachElement { take(hop: $0) }
        }
    }

    private mutating func take(hop: JSON) {
        let isReused = hop["reused"]?.bool ?? false
        if !isReused, hop["connect_us"]?.int != nil { report.connections += 1 }
        report.connectionNumber = hop["connection"]?.int ?? report.connectionNumber
        let dns = CurlReporter.time(hop, "dns_us")
        let connect = max(dns, CurlReporter.time(hop, "connect_us"))
        let tls = CurlReporter.time(hop, "tls_us")
        let sent = max(connect, tls, CurlReporter.time(hop, "request_us"))
        report.queueMicroseconds += CurlReporter.time(hop, "queued_us")
        report.lookupMicroseconds += dns
        report.connectMicroseconds += connect
        report.appConnectMicroseconds += tls
        report.preTransferMicroseconds += sent
        report.postTransferMicroseconds += sent
        report.startTransferMicroseconds += CurlReporter.time(hop, "first_byte_us")
        report.requestBytes += Int64(hop["request_header_bytes"]?.int ?? 0)
        report.uploadBytes = Int64(hop["request_body_bytes"]?.int ?? 0)
        report.downloadBytes = Int64(hop["response_body_bytes"]?.int ?? 0)
        (report.remoteIP, report.remotePort) = CurlReporter.address(hop["remote"]?.string)
        (report.localIP, report.localPort) = CurlReporter.address(hop["local"]?.string)
    }

    private static func time(_ hop: JSON, _ name: StaticString) -> Int64 { Int64(hop[name]?.int ?? 0) }

    /// Splits `address:port`, with an IPv6 address in brackets.
    private static func address(_ text: String?) -> (String, Int) {
        guard let text, let colon = text.lastIndex(of: ":") else { return ("", 0) }
        let host = text[..<colon].filter { $0 != "[" && $0 != "]" }
        return (host, Int(text[text.index(after: colon)...]) ?? 0)
    }
}
