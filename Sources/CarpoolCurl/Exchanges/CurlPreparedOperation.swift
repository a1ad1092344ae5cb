internal import CarpoolSystem

/// An operation whose files and standard input were read: what all of its transfers share.
final class CurlPreparedOperation {
    let options: CurlOperation
    /// The lines of `-H` and `--proxy-header`.
    let lines: [String]
    let proxyLines: [String]
    /// The body of `-d` and its relatives; `nil` for none.
    let data: [UInt8]?
    /// The query of `--url-query` or `-G`; `nil` for none.
    let query: String?
    /// The text of `-w`; `nil` for none.
    let writeOut: CurlWriteOut?
    let logins: CurlLogins
    var settings: CurlSettings
    let timeCondition: CurlTimeCondition?
    let environment: Environment
    /// Warnings about the options.
    let warnings: [String]
    /// How many requests with its settings were made that name files.
    var requests = 0
    /// The session with its settings, and when it was made (``CurlSessions``).
    var session: String?
    var sessionEpoch = 0

    /// Reads everything that the options name.
    init(_ options: CurlOperation, _ environment: Environment) throws(CurlError) {
        let request = options.request
        NamedPath.setLimit(milliseconds: options.connection.timeoutMilliseconds)
        self.options = options
        self.environment = environment
        var lines = try CurlHeaderLines.read(request)
        proxyLines = try CurlHeaderLines.read(request.proxyHeaders)
        let dataQuery = try CurlBody.query(ofData: request)
        let urlQuery = try CurlBody.query(request.queries)
        query = dataQuery ?? urlQuery
        data =
            request.data.isEmpty || request.isGet
            ? nil : try CurlBody.data(request.data)
        writeOut = try CurlPreparedOperation.writeOut(options.response.writeOut)
        logins = CurlLogins(options.security, environment)
        settings = try CurlSettings(options, environment)
        var warnings: [String] = []
        let time = request.timeCondition.map(CurlTimeCondition.read)
        timeCondition = time?.condition
        warnings += time?.warnings ?? []
        if let path = request.etagCompare {
            let comparison = CurlETag.compareLine(path)
            lines.append(comparison.line)
            warnings += comparison.warnings
        }
        self.lines = lines
        self.warnings = warnings
        guard !NamedPath.isTimeOver else { throw CurlError(CurlExitCode.timedOut) }
    }

    private static func writeOut(_ text: CurlRequestOptions.Data?) throws(CurlError) -> CurlWriteOut? {
        guard let text else { return nil }
        return CurlWriteOut(try CurlBody.data([text]))
    }

    /// What a transfer without `-T` carries.
    var body: CurlMethod.Body { CurlMethod.body(options.request, isUpload: false) }

    /// The version of HTTP that a request to a URL has, as far as it is known before the connection: HTTP/2 over TLS.
    func isHTTP2(_ url: CurlURL) -> Bool { url.scheme == "https" && options.connection.version != .http11 }
}
