internal import CarpoolExchange
internal import CarpoolSystem

/// The options about what is sent and how responses are treated.
extension CurlOption {
    static let request: [CurlOption] = [
        .word("request", "X", "<method>", "The method") { $0.operation.request.method = $1 },
        .flag("head", "I", "Get the header fields alone") { (line, isOn) throws(CurlError) in
            line.operation.request.isHead = isOn
            try line.select(isOn ? .head : .get)
        },
        .set("get", "G", "Put the data into the URL") { $0.operation.request.isGet = $1 },
        .text("data", "d", "<data>", "Send data by POST") { (line, text) throws(CurlError) in
            line.add(data: try line.data(text, stripsLineEnds: true))
        },
        .text("data-ascii", nil, "<data>", "The same") { (line, text) throws(CurlError) in
            line.add(data: try line.data(text, stripsLineEnds: true))
        },
        .text("data-binary", nil, "<data>", "Send data by POST, a file as it is") { (line, text) throws(CurlError) in
            line.add(data: try line.data(text, stripsLineEnds: false))
        },
        .text("data-raw", nil, "<data>", "Send data by POST; @ has no meaning") { (line, text) throws(CurlError) in
            line.add(data: .text(text))
        },
        .text("data-urlencode", nil, "<data>", "Send data by POST, percent-encoded") {
            (line, text) throws(CurlError) in
            line.add(data: try line.encoded(text))
        },
        .text("json", nil, "<data>", "Send JSON by POST") { (line, text) throws(CurlError) in
            line.operation.request.isJSON = true
            line.add(data: .joined(try line.data(text, stripsLineEnds: false)))
        },
        .text("url-query", nil, "<data>", "Add data to the query of the URL") { (line, text) throws(CurlError) in
            let data = try text.hasPrefix("+") ? .text(String(text.dropFirst())) : line.encoded(text)
            line.operation.request.queries.append(data)
        },
        .text("form", "F", "<name=content>", "Send a field of a form, or a file") { (line, text) throws(CurlError) in
            try line.add(form: CurlFormArgument(text: text, isLiteral: false))
        },
        .text("form-string", nil, "<name=string>", "Send a field of a form; @ has no meaning") {
            (line, text) throws(CurlError) in
            try line.add(form: CurlFormArgument(text: text, isLiteral: true))
        },
        .set("form-escape", nil, "Protect quotes of names in forms with backslashes") {
            $0.operation.request.escapesForms = $1
        },
        .file("upload-file", "T", "<file>", "Send a file; empty for none", allowsBlank: true) { $0.add(upload: $1) },
        .word("range", "r", "<range>", "Get a range of bytes") { (line, text) throws(CurlError) in
            try line.set(range: text)
        },
        .text("continue-at", "C", "<offset>", "Go on at an offset, or with - where the file ends") {
            (line, text) throws(CurlError) in
            try line.set(resume: text)
        },
        .text("time-cond", "z", "<time>", "Transfer only what is newer, or with - older, than a time or a file") {
            $0.operation.request.timeCondition = $1
        },
        .file("etag-save", nil, "<file>", "Save the ETag of the response") { (line, text) throws(CurlError) in
            try line.checkSingleURL()
            line.operation.request.etagSave = text
        },
        .file("etag-compare", nil, "<file>", "Transfer only what has another ETag") { (line, text) throws(CurlError) in
            try line.checkSingleURL()
            line.operation.request.etagCompare = text
        },
        .text("expect100-timeout", nil, "<seconds>", "How long to wait for 100 Continue") {
            (line, text) throws(CurlError) in
            line.operation.request.expectMilliseconds = try CurlNumber.milliseconds(text)
        },
    ]

    static let fields: [CurlOption] = [
        .text("header", "H", "<header/@file>", "Send a header field") { (line, text) throws(CurlError) in
            line.operation.request.headers.append(try line.header(text))
        },
        .text("proxy-header", nil, "<header/@file>", "Send a header field to the proxy") {
            (line, text) throws(CurlError) in
            line.operation.request.proxyHeaders.append(try line.header(text))
        },
        .text("user-agent", "A", "<name>", "The field User-Agent") { $0.operation.request.userAgent = $1 },
        .text("referer", "e", "<url>", "The field Referer; with ;auto for redirects too") { line, text in
            let isAutomatic = text.hasSuffix(";auto")
            line.operation.request.setsReferer = isAutomatic
            let url = isAutomatic ? String(text.dropLast(5)) : text
            line.operation.request.referer = url.isEmpty ? nil : url
        },
        .set("compressed", nil, "Ask for a compressed response, and decompress it") {
            $0.operation.request.isCompressed = $1
        },
        .set("raw", nil, "Decode nothing") { $0.operation.request.isRaw = $1 },
        .text("cookie", "b", "<data|file>", "Send cookies, or those of a file") {
            $0.operation.request.cookies.append($1)
        },
        .word("cookie-jar", "c", "<file>", "Save the cookies to a file") { $0.operation.request.cookieJar = $1 },
        .set("junk-session-cookies", "j", "Drop the session cookies of files") {
            $0.operation.request.dropsSessionCookies = $1
        },
        .set("globoff", "g", "Take { } [ ] in URLs as they are") { $0.operation.request.hasNoGlobbing = $1 },
        .set("path-as-is", nil, "Keep /../ in paths") { $0.operation.request.keepsPath = $1 },
    ]

    static let transfer: [CurlOption] = [
        .flag("fail", "f", "Fail with an error status, without the body") { (line, isOn) throws(CurlError) in
            try line.set(fail: .withoutBody, isOn)
        },
        .flag("fail-with-body", nil, "Fail with an error status, with the body") { (line, isOn) throws(CurlError) in
            try line.set(fail: .withBody, isOn)
        },
        .set("location", "L", "Follow redirects") { $0.operation.response.followsRedirects = $1 },
        .set("location-trusted", nil, "Follow redirects, and send the password to other hosts") {
            $0.operation.response.followsRedirects = $1
            $0.operation.response.trustsRedirects = $1
        },
        .text("max-redirs", nil, "<number>", "The most redirects; -1 for no limit") { (line, text) throws(CurlError) in
            line.operation.response.maximumRedirects = try CurlNumber.orMinusOne(text)
        },
        .set("post301", nil, "Stay with POST after a 301") { $0.keepPost(301, $1) },
        .set("post302", nil, "Stay with POST after a 302") { $0.keepPost(302, $1) },
        .set("post303", nil, "Stay with POST after a 303") { $0.keepPost(303, $1) },
        .text("retry", nil, "<number>", "Repeat a transfer that fails for a while") { (line, text) throws(CurlError) in
            line.operation.retry.count = try CurlNumber.positive(text)
        },
        .text("retry-delay", nil, "<seconds>", "The time between two attempts") { (line, text) throws(CurlError) in
            line.operation.retry.delayMilliseconds = try CurlNumber.seconds(text)
        },
        .text("retry-max-time", nil, "<seconds>", "The time in which a transfer is repeated") {
            (line, text) throws(CurlError) in
            line.operation.retry.maximumMilliseconds = try CurlNumber.seconds(text)
        },
        .set("retry-all-errors", nil, "Repeat after every error") { $0.operation.retry.retriesAllErrors = $1 },
        .set("retry-connrefused", nil, "Repeat if the connection is refused") {
            $0.operation.retry.retriesRefusedConnections = $1
        },
        .text("max-time", "m", "<seconds>", "The longest time of a transfer") { (line, text) throws(CurlError) in
            let milliseconds = try CurlNumber.milliseconds(text)
            line.operation.connection.timeoutMilliseconds = milliseconds
            // For the files of options that follow.
            NamedPath.setLimit(milliseconds: milliseconds)
        },
        .text("limit-rate", nil, "<speed>", "The most bytes a second") { (line, text) throws(CurlError) in
            line.operation.response.bytesPerSecond = try CurlNumber.size(text, of: "rate")
        },
        .text("speed-limit", "Y", "<speed>", "The least bytes a second") { (line, text) throws(CurlError) in
            line.operation.response.setSlowness(bytesPerSecond: try CurlNumber.positive(text))
        },
        .text("speed-time", "y", "<seconds>", "How long a transfer may be slower than -Y") {
            (line, text) throws(CurlError) in
            line.operation.response.setSlowness(seconds: try CurlNumber.positive(text))
        },
        .text("max-filesize", nil, "<bytes>", "The most bytes of a response; 0 for no limit") {
            (line, text) throws(CurlError) in
            let number = try CurlNumber.size(text, of: "max-filesize")
            line.operation.response.maximumBytes = number > 0 ? number : nil
        },
    ]
}

extension CurlCommandLine {
    fileprivate mutating func add(data: CurlRequestOptions.Data) {
        operation.request.data.append(data)
    }

    /// A piece of `--data-urlencode`.
    fileprivate func encoded(_ text: String) throws(CurlError) -> CurlRequestOptions.Data {
        guard let mark = text.firstIndex(of: "=") ?? text.firstIndex(of: "@") else {
            return .encoded(name: "", value: text)
        }
        let name = String(text[..<mark])
        let rest = String(text[text.index(after: mark)...])
        guard text[mark] == "@" else { return .encoded(name: name, value: rest) }
        try CurlOptionFile.checkReadable(rest)
        return .encodedFile(name: name, path: rest)
    }

    fileprivate func header(_ text: String) throws(CurlError) -> CurlRequestOptions.Header {
        guard text.hasPrefix("@") else { return .line(text) }
        try CurlOptionFile.checkReadable(String(text.dropFirst()))
        return .file(String(text.dropFirst()))
    }

    fileprivate mutating func set(range text: String) throws(CurlError) {
        if operation.request.resume != nil {
            throw CurlValueError.badUse("--continue-at is mutually exclusive with --range")
        }
        if let first = CurlNumber.whole(text) {
            warnings.append("A specified range MUST include at least one dash (-). Appending one for you")
            return operation.request.range = "\(first)-"
        }
        if !text.utf8.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ",") }) {
            warnings.append(
                "Invalid character is found in given range. A specified range MUST have only digits in "
                    + "'start'-'stop'. The server's response to this request is uncertain.")
        }
        operation.request.range = text
    }

    fileprivate mutating func set(resume text: String) throws(CurlError) {
        for (isSet, name) in [
            (operation.request.range != nil, "--range"), (operation.response.removesOnError, "--remove-on-error"),
            (operation.response.clobbers == false, "--no-clobber"),
        ] where isSet {
            throw CurlValueError.badUse("--continue-at is mutually exclusive with \(name)")
        }
        if text == "-" { return operation.request.resume = .fromFile }
        guard let offset = CurlNumber.whole(text) else { throw CurlValueError.badNumber }
        operation.request.resume = .offset(Int64(offset))
    }

    fileprivate mutating func set(fail mode: CurlResponseOptions.FailMode, _ isOn: Bool) throws(CurlError) {
        let current = operation.response.fail
        if isOn, current != .no, current != mode {
            throw CurlValueError.badUse("You must select either --fail or --fail-with-body, not both.")
        }
        operation.response.fail = isOn ? mode : .no
    }

    fileprivate mutating func keepPost(_ status: Int, _ isOn: Bool) {
        if isOn {
            operation.response.keepsPost.insert(status)
        } else {
            operation.response.keepsPost.remove(status)
        }
    }
}
