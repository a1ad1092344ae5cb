/// A variable of `-w` that has a value.
struct CurlWriteOutVariable: Sendable {
    enum Value {
        /// Nothing, or `null` in JSON.
        case none
        case text(String)
        case number(Int64)
        /// A status: at least three digits, except in JSON.
        case status(Int)
        /// Microseconds, printed as seconds.
        case time(Int64)
    }

    let name: String
    let value: @Sendable (CurlWriteOutContext) -> Value

    private init(_ name: String, _ value: @escaping @Sendable (CurlWriteOutContext) -> Value) {
        self.name = name
        self.value = value
    }

    private static func text(
        _ name: String, _ value: @escaping @Sendable (CurlWriteOutContext) -> String?
    ) -> CurlWriteOutVariable {
        CurlWriteOutVariable(name) { value($0).map(Value.text) ?? .none }
    }

    private static func number(
        _ name: String, _ value: @escaping @Sendable (CurlWriteOutContext) -> Int
    ) -> CurlWriteOutVariable {
        CurlWriteOutVariable(name) { .number(Int64(value($0))) }
    }

    private static func size(
        _ name: String, _ value: @escaping @Sendable (CurlWriteOutContext) -> Int64
    ) -> CurlWriteOutVariable {
        CurlWriteOutVariable(name) { .number(value($0)) }
    }

    private static func time(
        _ name: String, _ value: @escaping @Sendable (CurlReport) -> Int64
    ) -> CurlWriteOutVariable {
        CurlWriteOutVariable(name) { .time(value($0.report)) }
    }

    /// The variable of a name.
    static func named(_ name: some Collection<UInt8>) -> CurlWriteOutVariable? {
        all.first { $0.name.utf8.elementsEqual(name) }
    }

    /// All variables, in the order of `%{json}`. `tls_earlydata` is 0: the daemon sends no early data.
    static let all = transfer + sizes + times + urls

    private static let transfer: [CurlWriteOutVariable] = [
        text("certs") { $0.certificates },
        number("conn_id") { max(0, $0.report.connectionNumber) },
        text("content_type") { $0.report.contentType },
        text("errormsg") { $0.errorMessage },
        number("exitcode") { $0.report.exitCode },
        text("filename_effective") { $0.report.file },
        text("ftp_entry_path") { _ in nil },
        CurlWriteOutVariable("http_code") { .status($0.report.status) },
        CurlWriteOutVariable("http_connect") { .status($0.report.proxyStatus) },
        text("http_version") { $0.httpVersion },
        text("local_ip") { $0.report.localIP },
        number("local_port") { $0.port($0.report.localPort, of: $0.report.localIP) },
        text("method") { $0.report.method },
        number("num_certs") { $0.report.certificates.count },
        number("num_connects") { $0.report.connections },
        number("num_headers") { $0.report.headerCount },
        number("num_redirects") { $0.report.redirects },
        number("num_retries") { $0.report.retries },
        number("proxy_ssl_verify_result") { $0.report.proxyVerifyResult },
        number("proxy_used") { $0.report.usesProxy ? 1 : 0 },
        text("redirect_url") { $0.report.redirectURL },
        text("referer") { $0.report.referer },
        text("remote_ip") { $0.report.remoteIP },
        number("remote_port") { $0.port($0.report.remotePort, of: $0.report.remoteIP) },
        CurlWriteOutVariable("response_code") { .status($0.report.status) },
        text("scheme") { $0.report.scheme },
    ]

    private static let sizes: [CurlWriteOutVariable] = [
        size("size_download") { $0.report.downloadBytes },
        size("size_header") { $0.report.headerBytes },
        size("size_request") { $0.report.requestBytes },
        size("size_upload") { $0.report.uploadBytes },
        size("speed_download") { $0.speed($0.report.downloadBytes) },
        size("speed_upload") { $0.speed($0.report.uploadBytes) },
        number("ssl_verify_result") { $0.report.verifyResult },
    ]

    private static let times: [CurlWriteOutVariable] = [
        time("time_appconnect", \.appConnectMicroseconds),
        time("time_connect", \.connectMicroseconds),
        time("time_namelookup", \.lookupMicroseconds),
        time("time_posttransfer", \.postTransferMicroseconds),
        time("time_pretransfer", \.preTransferMicroseconds),
        time("time_queue", \.queueMicroseconds),
        time("time_redirect", \.redirectMicroseconds),
        time("time_starttransfer", \.startTransferMicroseconds),
        time("time_total", \.totalMicroseconds),
        number("tls_earlydata") { _ in 0 },
    ]

    private static let urls: [CurlWriteOutVariable] =
        [text("url") { $0.report.url }] + parts("url", \.url) + [text("url_effective") { $0.report.effectiveURL }]
        + parts("urle", \.effectiveURL)
        + [number("urlnum") { $0.report.urlNumber }, number("xfer_id") { $0.report.number }]

    /// The parts of a URL.
    private static func parts(
        _ prefix: String, _ url: @escaping @Sendable (CurlWriteOutContext) -> CurlURL?
    ) -> [CurlWriteOutVariable] {
        let values: [(String, @Sendable (CurlURL) -> String?)] = [
            ("fragment", { $0.fragment }), ("host", { $0.host.isEmpty ? nil : $0.host }), ("options", { _ in nil }),
            ("password", { $0.password }), ("path", { $0.pathOrRoot }),
            ("port", { $0.effectivePort.map(String.init) }), ("query", { $0.query?.isEmpty ?? true ? nil : $0.query }),
            ("scheme", { $0.scheme }), ("user", { $0.user }), ("zoneid", { $0.zone }),
        ]
        return values.map { name, value in text("\(prefix).\(name)") { url($0).flatMap(value) } }
    }
}
