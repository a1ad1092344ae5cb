internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolCurl
internal import CarpoolJSON
internal import CarpoolSystem

/// Runs a request with `--lines` or `--sse`: prints the pieces of the body while they arrive, as fast as standard
/// output is read.
struct StreamRunner {
    private let request: RequestArguments
    private let streaming: RequestArguments.Streaming
    private let daemon: DaemonAccess

    /// The maximum size of one read.
    private static let creditBytes = 262_144

    init(_ request: RequestArguments, _ streaming: RequestArguments.Streaming, _ daemon: DaemonAccess) {
        self.request = request
        self.streaming = streaming
        self.daemon = daemon
    }

    func run(_ writer: RequestWriter, _ body: BodyArgument?) throws(Failure) -> ExitCode {
        if case .stream(let source)? = body {
            // The server may respond earlier, but the response is read after the body was sent.
            let pending = try PendingRequest(daemon, writer) { $0.member("kind", static: "stream") }
            var meter = ProgressMeter(isSilent: true)
            try pending.sendBody(source, &meter)
            return try read(pending)
        }
        let record = try daemon.call("request.perform") { json in
            writer.write(to: &json) { json in
                json.member("kind", static: "stream")
                json.member("hold_for_headers", true)
            }
        }
        let pending = PendingRequest(daemon, id: record["request"]?.string ?? "")
        defer { pending.dismiss() }
        try Outcome(record, request).checkStatus()
        if request.printsHead, record["response"] != nil { try ResponseOutput(record).write(to: nil, withHead: true) }
        if record["finished"]?.bool == false { _ = try pending.call("request.resume") }
        return try read(pending)
    }

    private func read(_ pending: PendingRequest) throws(Failure) -> ExitCode {
        var completion: JSON?
        // The attempt whose body is printed: a request that was submitted is sent again even then.
        var printed: Int?
        while completion == nil {
            let piece = try pending.call("request.read") { writer in
                writer.member("as", streaming.rawValue)
                writer.member("credit_bytes", StreamRunner.creditBytes)
            }
            completion = piece["complete"]
            let bytes = try bytes(of: piece)
            guard !bytes.isEmpty else { continue }
            let attempt = piece["attempt"]?.int
            guard printed == nil || printed == attempt else {
                throw Failure(.transferFailed, "the body broke off, and its beginning had been printed")
            }
            printed = attempt
            try Terminal.print(bytes)
        }
        let record = try pending.wait()
        if request.isVerbose { Report(record).printToStandardError() }
        defer { request.writeOut?.print(CurlReport(record, request)) }
        try saveCookies(of: record, pending) { () throws(Failure) in try Outcome(record, request).check() }
        return .success
    }

    private func saveCookies(
        of record: JSON, _ pending: PendingRequest, _ body: () throws(Failure) -> Void
    ) throws(Failure) {
        guard let jar = request.cookies.jar else { return try body() }
        try CookieOutput(jar, pending).after(record, body)
    }

    private func bytes(of piece: JSON) throws(Failure) -> [UInt8] {
        if let error = piece["error"] {
            throw Failure(.transferFailed, "\(error["name"]?.string ?? "?"): \(error["message"]?.string ?? "")")
        }
        var bytes: [UInt8] = []
        switch streaming {
        case .lines:
            piece["lines"]?.forEachElement { line in
                _ = line.withUTF8 { bytes += $0 }
                bytes.append(UInt8(ascii: "\n"))
            }
        case .events:
            piece["events"]?.forEachElement { event in
                var writer = JSONWriter()
                writer.value(event)
                bytes += writer.bytes
                bytes.append(UInt8(ascii: "\n"))
            }
        }
        return bytes
    }
}
