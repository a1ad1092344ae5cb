@testable import CarpoolCurl

/// Command lines, and the header fields that the real curl 8.14.1 sent for them to a listener that recorded its bytes.
/// The field Host is left out unless a line sets it, and the boundary of a form is `B`.
enum CurlHeaderCases {
    static let all: [([String], [String])] = [
        (
            [],
            ["User-Agent: curl/8.14.1", "Accept: */*"]
        ),
        (
            ["-A", "ua", "-e", "http://r/", "-b", "c=1", "--compressed", "-r", "0-4", "-u", "a:b"],
            [
                "Authorization: Basic YTpi", "Range: bytes=0-4", "User-Agent: ua", "Accept: */*",
                "Accept-Encoding: deflate, gzip, br, zstd", "Referer: http://r/", "Cookie: c=1",
            ]
        ),
        (
            ["-A", ""],
            ["Accept: */*"]
        ),
        (
            ["-H", "Accept:", "-H", "User-Agent:"],
            []
        ),
        (
            ["-H", "accept: text/x", "-H", "user-agent;", "-A", "zz"],
            ["accept: text/x", "user-agent:"]
        ),
        (
            ["-H", "User-Agent : odd"],
            ["User-Agent: curl/8.14.1", "Accept: */*", "User-Agent : odd"]
        ),
        (
            ["-H", "Host: other:99", "-H", "X: y", "-H", "HOST: two"],
            ["Host: other:99", "User-Agent: curl/8.14.1", "Accept: */*", "X: y"]
        ),
        (
            ["-H", "Host:"],
            ["User-Agent: curl/8.14.1", "Accept: */*"]
        ),
        (
            ["-H", "Host:", "-H", "Host: b"],
            ["User-Agent: curl/8.14.1", "Accept: */*", "Host: b"]
        ),
        (
            ["-H", "Host;"],
            ["Host:", "User-Agent: curl/8.14.1", "Accept: */*"]
        ),
        (
            [
                "-H", "X-A:b  ", "-H", "X-B:   c", "-H", "X-C:  ", "-H", ":d", "-H", "noc", "-H", "X-D;y", "-H", "X-E:",
                "-H", "X-F;",
            ],
            ["User-Agent: curl/8.14.1", "Accept: */*", "X-A:b  ", "X-B:   c", "X-F:"]
        ),
        (
            ["-H", "A:1", "-H", "a: 2", "-H", "A;b: 3", "-H", ";"],
            ["User-Agent: curl/8.14.1", "Accept: */*", "A:1", "a: 2", "A;b: 3"]
        ),
        (
            ["-b", "a=1", "-b", "c=2; d=3"],
            ["User-Agent: curl/8.14.1", "Accept: */*", "Cookie: a=1;c=2; d=3"]
        ),
        (
            ["-b", "a=1", "-H", "Cookie: e=4"],
            ["User-Agent: curl/8.14.1", "Accept: */*", "Cookie: e=4"]
        ),
        (
            ["-b", "a=1", "-H", "Cookie:"],
            ["User-Agent: curl/8.14.1", "Accept: */*"]
        ),
        (
            ["-b", "a=1", "-H", "Cookie;"],
            ["User-Agent: curl/8.14.1", "Accept: */*", "Cookie:"]
        ),
        (
            ["-e", "http://r/", "-H", "Referer: own"],
            ["User-Agent: curl/8.14.1", "Accept: */*", "Referer: own"]
        ),
        (
            ["--compressed", "-H", "Accept-Encoding: x"],
            ["User-Agent: curl/8.14.1", "Accept: */*", "Accept-Encoding: x"]
        ),
        (
            ["--compressed", "-H", "accept-encoding:"],
            ["User-Agent: curl/8.14.1", "Accept: */*"]
        ),
        (
            ["-u", "a:b", "-H", "Authorization: x"],
            ["User-Agent: curl/8.14.1", "Accept: */*", "Authorization: x"]
        ),
        (
            ["-u", "a:b", "-H", "Authorization:"],
            ["User-Agent: curl/8.14.1", "Accept: */*"]
        ),
        (
            ["--oauth2-bearer", "tok"],
            ["Authorization: Bearer tok", "User-Agent: curl/8.14.1", "Accept: */*"]
        ),
        (
            ["-r", "0-4", "-H", "Range: bytes=1-"],
            ["User-Agent: curl/8.14.1", "Accept: */*", "Range: bytes=1-"]
        ),
        (
            ["-C", "5"],
            ["Range: bytes=5-", "User-Agent: curl/8.14.1", "Accept: */*"]
        ),
        (
            ["-C", "5", "-H", "range:"],
            ["User-Agent: curl/8.14.1", "Accept: */*"]
        ),
        (
            ["-z", "Jan 1 2020 12:00 GMT", "-b", "c=1", "-H", "X: y"],
            [
                "User-Agent: curl/8.14.1", "Accept: */*", "Cookie: c=1",
                "If-Modified-Since: Wed, 01 Jan 2020 12:00:00 GMT", "X: y",
            ]
        ),
        (
            ["-z", "-Jan 1 2020 12:00 GMT", "-H", "if-unmodified-since: x"],
            ["User-Agent: curl/8.14.1", "Accept: */*", "if-unmodified-since: x"]
        ),
        (
            ["-d", "abc"],
            [
                "User-Agent: curl/8.14.1", "Accept: */*", "Content-Length: 3",
                "Content-Type: application/x-www-form-urlencoded",
            ]
        ),
        (
            ["-d", "", "-X", "PUT"],
            [
                "User-Agent: curl/8.14.1", "Accept: */*", "Content-Length: 0",
                "Content-Type: application/x-www-form-urlencoded",
            ]
        ),
        (
            ["-d", "abc", "-H", "Content-Type: a/b"],
            ["User-Agent: curl/8.14.1", "Accept: */*", "Content-Type: a/b", "Content-Length: 3"]
        ),
        (
            ["-d", "abc", "-H", "content-type:"],
            ["User-Agent: curl/8.14.1", "Accept: */*", "Content-Length: 3"]
        ),
        (
            ["-d", "abc", "-H", "Content-Length: 3"],
            [
                "User-Agent: curl/8.14.1", "Accept: */*", "Content-Length: 3",
                "Content-Type: application/x-www-form-urlencoded",
            ]
        ),
        (
            ["-d", "abc", "-H", "Transfer-Encoding: chunked"],
            [
                "User-Agent: curl/8.14.1", "Accept: */*", "Transfer-Encoding: chunked",
                "Content-Type: application/x-www-form-urlencoded",
            ]
        ),
        (
            ["-d", "abc", "-H", "transfer-encoding: gzip, Chunked"],
            [
                "User-Agent: curl/8.14.1", "Accept: */*", "transfer-encoding: gzip, Chunked", "Content-Length: 3",
                "Content-Type: application/x-www-form-urlencoded",
            ]
        ),
        (
            ["-d", "abc", "-H", "Expect: 100-continue"],
            [
                "User-Agent: curl/8.14.1", "Accept: */*", "Expect: 100-continue", "Content-Length: 3",
                "Content-Type: application/x-www-form-urlencoded",
            ]
        ),
        (
            ["-d", "abcde", "-r", "0-4", "-b", "c=1", "-H", "Z: 1"],
            [
                "Content-Range: bytes 0-4/5", "User-Agent: curl/8.14.1", "Accept: */*", "Cookie: c=1", "Z: 1",
                "Content-Length: 5", "Content-Type: application/x-www-form-urlencoded",
            ]
        ),
        (
            ["-d", "abcde", "-r", "0-4", "-H", "Content-Range: x"],
            [
                "User-Agent: curl/8.14.1", "Accept: */*", "Content-Range: x", "Content-Length: 5",
                "Content-Type: application/x-www-form-urlencoded",
            ]
        ),
        (
            ["--data-binary", "@mib"],
            [
                "User-Agent: curl/8.14.1", "Accept: */*", "Content-Length: 1048576",
                "Content-Type: application/x-www-form-urlencoded",
            ]
        ),
        (
            ["--data-binary", "@mib1"],
            [
                "User-Agent: curl/8.14.1", "Accept: */*", "Content-Length: 1048577",
                "Content-Type: application/x-www-form-urlencoded", "Expect: 100-continue",
            ]
        ),
        (
            ["--data-binary", "@mib1", "-H", "Expect:"],
            [
                "User-Agent: curl/8.14.1", "Accept: */*", "Content-Length: 1048577",
                "Content-Type: application/x-www-form-urlencoded",
            ]
        ),
        (
            ["--json", "{}"],
            [
                "User-Agent: curl/8.14.1", "Content-Type: application/json", "Accept: application/json",
                "Content-Length: 2",
            ]
        ),
        (
            ["-F", "a=b"],
            [
                "User-Agent: curl/8.14.1", "Accept: */*", "Content-Length: 149",
                "Content-Type: multipart/form-data; boundary=B",
            ]
        ),
        (
            ["-F", "a=b", "-r", "0-4", "-u", "a:b"],
            [
                "Authorization: Basic YTpi", "User-Agent: curl/8.14.1", "Accept: */*", "Content-Length: 149",
                "Content-Type: multipart/form-data; boundary=B",
            ]
        ),
        (
            ["-F", "a=b", "-H", "Content-Type: multipart/related", "-H", "X: y"],
            [
                "User-Agent: curl/8.14.1", "Accept: */*", "X: y", "Content-Length: 150",
                "Content-Type: multipart/related; boundary=B",
            ]
        ),
        (
            ["-F", "a=@f.txt;encoder=quoted-printable"],
            [
                "User-Agent: curl/8.14.1", "Accept: */*", "Transfer-Encoding: chunked",
                "Content-Type: multipart/form-data; boundary=B", "Expect: 100-continue",
            ]
        ),
        (
            ["-F", "a=@f.txt;encoder=quoted-printable", "-H", "Expect:"],
            [
                "User-Agent: curl/8.14.1", "Accept: */*", "Transfer-Encoding: chunked",
                "Content-Type: multipart/form-data; boundary=B",
            ]
        ),
        (
            ["-T", "f.txt"],
            ["User-Agent: curl/8.14.1", "Accept: */*", "Content-Length: 3"]
        ),
        (
            ["-T", "f.txt", "-b", "c=1", "-H", "X: y", "-u", "a:b", "--compressed"],
            [
                "Authorization: Basic YTpi", "User-Agent: curl/8.14.1", "Accept: */*",
                "Accept-Encoding: deflate, gzip, br, zstd", "Cookie: c=1", "X: y", "Content-Length: 3",
            ]
        ),
        (
            ["-T", "-", "-e", "http://r/", "-b", "c=1"],
            [
                "User-Agent: curl/8.14.1", "Accept: */*", "Referer: http://r/", "Transfer-Encoding: chunked",
                "Cookie: c=1", "Expect: 100-continue",
            ]
        ),
        (
            ["-T", "-", "-H", "Transfer-Encoding: chunked"],
            ["User-Agent: curl/8.14.1", "Accept: */*", "Transfer-Encoding: chunked", "Expect: 100-continue"]
        ),
        (
            ["-T", "big"],
            ["User-Agent: curl/8.14.1", "Accept: */*", "Content-Length: 2000000", "Expect: 100-continue"]
        ),
        (
            ["-C", "2", "-T", "f.txt"],
            ["Content-Range: bytes 2-2/3", "User-Agent: curl/8.14.1", "Accept: */*", "Content-Length: 1"]
        ),
        (
            ["-r", "0-1", "-T", "f.txt"],
            ["Content-Range: bytes 0-1/3", "User-Agent: curl/8.14.1", "Accept: */*", "Content-Length: 3"]
        ),
        (
            ["-x", "http://127.0.0.1:1", "--proxy-user", "p:q", "-u", "a:b", "-e", "http://r/", "-b", "c=1"],
            [
                "Proxy-Authorization: Basic cDpx", "Authorization: Basic YTpi", "User-Agent: curl/8.14.1",
                "Accept: */*", "Referer: http://r/", "Proxy-Connection: Keep-Alive", "Cookie: c=1",
            ]
        ),
        (
            ["-x", "http://127.0.0.1:1", "-T", "-", "--proxy-header", "X-P: 1", "-H", "X: y"],
            [
                "User-Agent: curl/8.14.1", "Accept: */*", "Proxy-Connection: Keep-Alive", "Transfer-Encoding: chunked",
                "X: y", "X-P: 1", "Expect: 100-continue",
            ]
        ),
        (
            ["-x", "http://127.0.0.1:1", "--proxy-header", "X-P: 1", "-H", "Proxy-Connection:"],
            ["User-Agent: curl/8.14.1", "Accept: */*", "X-P: 1"]
        ),
        (
            ["-x", "http://127.0.0.1:1", "--proxy-header", "proxy-connection: z", "--proxy-header", "User-Agent: pp"],
            ["User-Agent: curl/8.14.1", "Accept: */*", "proxy-connection: z", "User-Agent: pp"]
        ),
        (
            [
                "-d", "abc", "-H", "User-Agent:", "-H", "Accept:", "-H", "Content-Type:", "-H", "Content-Length:", "-H",
                "Host:",
            ],
            []
        ),
    ]

    /// The options of the table.
    static func parse(_ arguments: [String]) throws -> (CurlRequestOptions, CurlHeaderContext) {
        var request = CurlRequestOptions()
        var context = CurlHeaderContext()
        var rest = arguments[...]
        while let option = rest.popFirst() {
            if option == "--compressed" {
                request.isCompressed = true
                continue
            }
            guard let value = rest.popFirst() else { throw UnknownOption(name: option) }
            if set(option, value, &request) { continue }
            guard set(option, value, &context) else { throw UnknownOption(name: option) }
        }
        request.isJSON = arguments.contains("--json")
        context.lines = try CurlHeaderLines.read(request)
        if case .form = context.body, let type = context.lines.value(of: "Content-Type") {
            context.body = .form(150, contentType: "\(type); boundary=B")
        }
        return (request, context)
    }

    struct UnknownOption: Error {
        let name: String
    }

    private static func set(_ option: String, _ value: String, _ request: inout CurlRequestOptions) -> Bool {
        switch option {
        case "-A": request.userAgent = value
        case "-r": request.range = value
        case "-b": request.cookies.append(value)
        case "-H": request.headers.append(.line(value))
        default: return false
        }
        return true
    }

    private static func set(_ option: String, _ value: String, _ context: inout CurlHeaderContext) -> Bool {
        switch option {
        case "-e": context.referer = value
        case "-u": context.authorization = "Basic YTpi"
        case "--oauth2-bearer": context.authorization = "Bearer \(value)"
        case "-C": context.offset = Int64(value)
        case "-z":
            let name = value.hasPrefix("-") ? "If-Unmodified-Since" : "If-Modified-Since"
            context.timeCondition = CurlHeaderField(name, "Wed, 01 Jan 2020 12:00:00 GMT")
        case "-x": context.usesProxy = true
        case "--proxy-user": context.proxyAuthorization = "Basic cDpx"
        case "--proxy-header": context.proxyLines.append(value)
        case "-X": break
        default: return setBody(option, value, &context)
        }
        return true
    }

    private static func setBody(_ option: String, _ value: String, _ context: inout CurlHeaderContext) -> Bool {
        switch (option, value) {
        case ("-d", _): context.body = .data(Int64(value.utf8.count))
        case ("--data-binary", "@mib"): context.body = .data(1_048_576)
        case ("--data-binary", "@mib1"): context.body = .data(1_048_577)
        case ("--json", _): context.body = .data(Int64(value.utf8.count))
        case ("-F", "a=b"): context.body = .form(149, contentType: "multipart/form-data; boundary=B")
        case ("-F", _): context.body = .form(nil, contentType: "multipart/form-data; boundary=B")
        case ("-T", "-"): context.body = .upload(nil)
        case ("-T", "big"): context.body = .upload(2_000_000)
        case ("-T", _): context.body = .upload(context.offset.map { 3 - $0 } ?? 3)
        default: return false
        }
        return true
    }
}
