package import CarpoolJSON
internal import CarpoolCaller

extension CurlReport {
    /// Takes the member `response` of a record.
    package mutating func take(response: JSON?) {
        guard let response else { return }
        status = response["status"]?.int ?? 0
        httpVersion = CurlReport.version(response["http_version"]?.string ?? "")
        effectiveURL = response["url"]?.string ?? effectiveURL
        scheme = String(effectiveURL.prefix { $0 != ":" })
        response["headers"]?.forEachElement { field in
            guard let name = field[index: 0]?.string, let value = field[index: 1]?.fieldText else { return }
            headers.append((name, value))
            if contentType == nil, name.lowercased() == "content-type" { contentType = value }
        }
    }

    /// The protocol's name as curl writes it.
    private static func version(_ name: String) -> String {
        switch name {
        case "h2": "2"
        case "http/1.0": "1.0"
        case "": "0"
        default: "1.1"
        }
    }

    /// Takes the hops of a record: their times add up over redirects.
    package mutating func take(hopsOf record: JSON) {
        record["attempts"]?.forEachElement { attempt in
            attempt["metrics"]?.forEachElement { take(hop: $0) }
        }
    }

    private mutating func take(hop: JSON) {
        let isReused = hop["reused"]?.bool ?? false
        if !isReused, hop["connect_us"]?.int != nil { connections += 1 }
        connectionNumber = hop["connection"]?.int ?? connectionNumber
        let dns = CurlReport.time(hop, "dns_us")
        let connect = max(dns, CurlReport.time(hop, "connect_us"))
        let tls = CurlReport.time(hop, "tls_us")
        let sent = max(connect, tls, CurlReport.time(hop, "request_us"))
        queueMicroseconds += CurlReport.time(hop, "queued_us")
        lookupMicroseconds += dns
        connectMicroseconds += connect
        appConnectMicroseconds += tls
        preTransferMicroseconds += sent
        postTransferMicroseconds += sent
        startTransferMicroseconds += CurlReport.time(hop, "first_byte_us")
        requestBytes += Int64(hop["request_header_bytes"]?.int ?? 0)
        headerBytes += Int64(hop["response_header_bytes"]?.int ?? 0)
        uploadBytes = Int64(hop["request_body_bytes"]?.int ?? 0)
        downloadBytes = Int64(hop["response_body_bytes"]?.int ?? 0)
        (remoteIP, remotePort) = CurlReport.address(hop["remote"]?.string)
        (localIP, localPort) = CurlReport.address(hop["local"]?.string)
        usesProxy = hop["proxy"] != nil
    }

    private static func time(_ hop: JSON, _ name: StaticString) -> Int64 { Int64(hop[name]?.int ?? 0) }

    /// Splits `address:port`, with an IPv6 address in brackets.
    private static func address(_ text: String?) -> (String, Int) {
        guard let text, let colon = text.lastIndex(of: ":") else { return ("", 0) }
        let host = text[..<colon].filter { $0 != "[" && $0 != "]" }
        return (host, Int(text[text.index(after: colon)...]) ?? 0)
    }
}
