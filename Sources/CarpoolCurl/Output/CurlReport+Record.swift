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
            headerCount += 1
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
    /// - Parameter isKnown: whether an earlier transfer or hop of this command has used a connection: curl tells of the
    ///   certificates and the tunnel of a connection only where it was made.
    package mutating func take(hopsOf record: JSON, isKnown: (Int) -> Bool = { _ in false }) {
        record["attempts"]?.forEachElement { attempt in
            attempt["metrics"]?.forEachElement { hop in
                if !(hop["connection"]?.int.map(isKnown) ?? false) { take(connectionOf: hop) }
                take(hop: hop)
            }
        }
    }

    /// The rounds of authentication in a record, which curl counts as redirects.
    static func challenges(in record: JSON) -> Int {
        var count = 0
        record["attempts"]?.forEachElement { attempt in count += max(0, (attempt["metrics"]?.count ?? 0) - 1) }
        return count
    }

    private mutating func take(connectionOf hop: JSON) {
        verifyResult = hop["verify_result"]?.int ?? 0
        proxyVerifyResult = hop["proxy_verify_result"]?.int ?? 0
        proxyStatus = hop["connect_status"]?.int ?? 0
        certificates = []
        hop["certificates"]?.forEachElement { certificate in
            var lines: [String] = []
            certificate.forEachElement { lines.append($0.string ?? "") }
            certificates.append(lines)
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
