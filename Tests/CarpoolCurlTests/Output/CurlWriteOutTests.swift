import Testing

@testable import CarpoolCurl

/// The expectations are what the real curl 8.14.1 printed for the transfers that the reports describe.
struct CurlWriteOutTests {
    /// A transfer of the real curl: its numbers are those that it printed.
    private static func report() -> CurlReport {
        var report = CurlReport()
        report.url = "http://127.0.0.1:1234/x?y#f"
        report.effectiveURL = report.url
        report.status = 200
        report.contentType = "text/plain; charset=x"
        report.headers = [
            ("Content-Type", "text/plain; charset=x"), ("X-A", "1"), ("x-a", "two"), ("X-E", ""),
            ("Set-Cookie", "a=\"b\"\\"), ("X-Tab", "a\tb\u{1}"), ("X-L", "é"), ("Content-Length", "2"),
        ]
        report.headerCount = report.headers.count
        report.file = "/dev/null"
        report.httpVersion = "1.1"
        report.scheme = "http"
        (report.localIP, report.localPort, report.remoteIP, report.remotePort) = (
            "127.0.0.1", 58_376, "127.0.0.1", 1_234
        )
        (report.connections, report.connectionNumber) = (1, 0)
        (report.downloadBytes, report.headerBytes, report.requestBytes) = (2, 143, 82)
        (report.lookupMicroseconds, report.connectMicroseconds) = (17, 144)
        (report.preTransferMicroseconds, report.postTransferMicroseconds) = (177, 190)
        (report.queueMicroseconds, report.startTransferMicroseconds, report.totalMicroseconds) = (21, 917, 951)
        return report
    }

    @Test("For a terminal, values are escaped and the user's own text is not")
    func terminals() {
        var report = Self.report()
        report.contentType = "text/\u{1B}[2J"
        report.headers = [("X-Odd", "a\u{9B}b\u{202E}")]
        let text = "\u{1B}[1m%{content_type} %header{x-odd} %{header_json}\\n"
        let isTerminal: (CurlWriteOut.Destination) -> Bool = { $0 == .standardOutput }
        let escaped = CurlWriteOut(Array(text.utf8), escapesValues: isTerminal).pieces(report)
        let shown = escaped.map { String(decoding: $0.bytes, as: UTF8.self) }.joined()
        #expect(shown.hasPrefix("\u{1B}[1mtext/\\u{1b}[2J a\\u{9b}b\\u{202e} {"))
        #expect(shown.contains("a\\u009bb\\u202e"))
        let plain = CurlWriteOut(Array(text.utf8)).pieces(report).map { String(decoding: $0.bytes, as: UTF8.self) }
        #expect(plain.joined().contains("text/\u{1B}[2J a\u{9B}b\u{202E} {"))
    }

    private static func failure() -> CurlReport {
        var report = CurlReport()
        report.url = "http://127.0.0.1:1/"
        report.effectiveURL = report.url
        report.exitCode = 7
        report.errorMessage = "Failed to connect to 127.0.0.1 port 1 after 0 ms: Could not connect to server"
        report.file = "/dev/null"
        report.scheme = "http"
        (report.lookupMicroseconds, report.queueMicroseconds, report.totalMicroseconds) = (19, 22, 142)
        return report
    }

    /// What a text prints to standard output and to standard error.
    private static func print(_ text: String, _ report: CurlReport) -> (output: String, error: String) {
        var (output, error) = ("", "")
        for piece in CurlWriteOut(Array(text.utf8)).pieces(report) {
            switch piece.destination {
            case .standardOutput: output += String(decoding: piece.bytes, as: UTF8.self)
            case .standardError: error += String(decoding: piece.bytes, as: UTF8.self)
            case .file: Issue.record("\(piece) is for a file")
            }
        }
        return (output, error)
    }

    static let texts: [(String, String, String)] = [
        ("%header{x-a}|%header{X-E}|%header{nope}|%header{x-tab}|%header{set-cookie}", "1|||a\tb\u{1}|a=\"b\"\\", ""),
        ("%header{x-a:all:,}", "", ""), ("%header{x-a", "%header{x-a", ""), ("%header{}", "", ""),
        ("a%%b%", "a%b%", ""),
        ("%{", "%{", ""), ("%{nope}x", "x", "curl: unknown --write-out variable: 'nope'\n"),
        ("%{http_code", "%{http_code", ""), ("%{http_code}%{response_code}%{http_connect}", "200200000", ""),
        ("%x%é%", "%x%é%", ""), ("\\n\\r\\t\\x\\\\", "\n\r\t\\x\\\\", ""), ("\\", "\\", ""),
        ("%{stderr}e%{stdout}o%{stderr}f", "o", "ef"), ("%{onerror}x", "", ""), ("x%{onerror}y%{json}", "x", ""),
        ("%{num_headers}", "8", ""),
        (
            "%{content_type}|%{filename_effective}|%{errormsg}|%{exitcode}|%{ftp_entry_path}",
            "text/plain; charset=x|/dev/null||0|", ""
        ),
        ("%{certs}%{num_certs}|", "0|", ""), ("%{time_total}", "0.000951", ""),
        ("%{size_header}|%{size_request}|%{size_download}|%{size_upload}", "143|82|2|0", ""),
        (
            "%{url}|%{url.host}|%{url.port}|%{url.path}|%{url.query}|%{url.fragment}|%{url.scheme}|%{url.user}|%{urle.path}",
            "http://127.0.0.1:1234/x?y#f|127.0.0.1|1234|/x|y|f|http||/x", ""
        ),
        ("%{xfer_id}|%{conn_id}|%{urlnum}|%{num_connects}", "0|0|0|1", ""),
        (
            "%{method}%{referer}%{redirect_url}%{proxy_used}%{scheme}%{http_version}%{tls_earlydata}", "GET0http1.10",
            ""
        ),
        ("%{HTTP_CODE}", "", "curl: unknown --write-out variable: 'HTTP_CODE'\n"),
        ("%{ http_code}", "", "curl: unknown --write-out variable: ' http_code'\n"),
        ("%output{}x%{stdout}y", "xy", ""), ("%output{a", "%output{a", ""),
        ("%{}", "", "curl: unknown --write-out variable: ''\n"),
        ("%{{x}}", "}", "curl: unknown --write-out variable: '{x'\n"), ("%header{%{x}}", "}", ""),
    ]

    @Test(arguments: texts)
    func prints(_ text: String, _ output: String, _ error: String) {
        let printed = CurlWriteOutTests.print(text, CurlWriteOutTests.report())
        #expect(printed.output == output && printed.error == error)
    }

    @Test func failuresHaveTheirMessage() {
        let text = "%{onerror}x%{errormsg}|%{exitcode}|%{http_code}|%{remote_ip}|%{scheme}|%{content_type}"
        let expected = "xFailed to connect to 127.0.0.1 port 1 after 0 ms: Could not connect to server|7|000||http|"
        #expect(CurlWriteOutTests.print(text, CurlWriteOutTests.failure()).output == expected)
        var report = CurlReport()
        report.exitCode = 28
        #expect(CurlWriteOutTests.print("%{errormsg}", report).output == "Timeout was reached")
    }

    @Test("The objects are those of the real curl, byte by byte")
    func json() {
        let version = "libcurl/8.14.1 OpenSSL/3.0.19"
        func object(_ report: CurlReport) -> String {
            CurlWriteOut(Array("%{json}".utf8), version: version).pieces(report).map(\.bytes.text).joined()
        }
        #expect(object(CurlWriteOutTests.report()) == CurlWriteOutCases.success)
        #expect(object(CurlWriteOutTests.failure()) == CurlWriteOutCases.failure)
    }

    @Test func speedsAreThoseOfTheWholeTransfer() {
        var report = CurlReport()
        (report.downloadBytes, report.uploadBytes, report.totalMicroseconds) = (2, 3, 739)
        #expect(CurlWriteOutTests.print("%{speed_download}|%{speed_upload}", report).output == "2706|4059")
        (report.downloadBytes, report.totalMicroseconds) = (Int64.max, 2_000_000)
        #expect(CurlWriteOutTests.print("%{speed_download}", report).output == "4611686018427387903")
        report.totalMicroseconds = 0
        report.downloadBytes = 5
        #expect(CurlWriteOutTests.print("%{speed_download}", report).output == "5000000")
    }

    @Test func fieldsInAnObject() {
        #expect(CurlWriteOutTests.print("%{header_json}", CurlWriteOutTests.failure()).output == "{\n}")
        #expect(
            CurlWriteOutTests.print("%{header_json}", CurlWriteOutTests.report()).output == CurlWriteOutCases.fields)
    }

    @Test("A file is made when the text reaches it, and then written on")
    func files() {
        let text = "a%output{>>x}b%output{y}c%{stderr}d%output{>>y}e%output{y}f%output{empty}"
        let pieces = CurlWriteOut(Array(text.utf8)).pieces(CurlReport())
        let expected: [(CurlWriteOut.Destination, String)] = [
            (.standardOutput, "a"), (.file("x", appends: true), "b"), (.file("y", appends: false), "c"),
            (.standardError, "d"), (.file("y", appends: true), "e"), (.file("y", appends: false), "f"),
            (.file("empty", appends: false), ""),
        ]
        #expect(pieces == expected.map { CurlWriteOut.Piece(destination: $0.0, bytes: Array($0.1.utf8)) })
        let warned = CurlWriteOut(Array("%output{y}a%{no}b".utf8)).pieces(CurlReport())
        #expect(warned.map(\.bytes.text) == ["a", "curl: unknown --write-out variable: 'no'\n", "b"])
        #expect(warned.last?.destination == .file("y", appends: true))
    }

    @Test func textsThatAreNoURLsHaveNoParts() {
        var report = CurlReport()
        report.url = "h:99999"
        report.effectiveURL = "foo://u:p@[fe80::1%25lo]:9/x"
        let text = "%{url.host}|%{url.path}|%{urle.host}|%{urle.zoneid}|%{urle.port}|%{urle.user}|%{urle.password}"
        #expect(CurlWriteOutTests.print(text, report).output == "||[fe80::1]|lo|9|u|p")
    }
}
