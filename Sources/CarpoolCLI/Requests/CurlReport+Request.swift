internal import CarpoolCaller
internal import CarpoolCurl
internal import CarpoolJSON

extension CurlReport {
    /// The values of `-w` for a request that has ended, with the exit code of this command.
    init(_ record: JSON, _ request: RequestArguments) {
        self.init()
        let sent = record["attempts"]?[index: 0]?["request"]
        url = sent?["url"]?.string ?? request.completeURL
        effectiveURL = url
        scheme = String(url.prefix { $0 != ":" })
        method = sent?["method"]?.string ?? request.method
        take(response: record["response"])
        take(hopsOf: record)
        totalMicroseconds = Int64(record["metrics"]?["duration_us"]?.int ?? 0)
        redirects = record["metrics"]?["redirects"]?.int ?? 0
        retries = max(0, (record["metrics"]?["attempts"]?.int ?? 1) - 1)
        file = request.output
        urlNumber = request.urlNumber
        if !request.followsRedirects { redirectURL = redirectTarget }
        do throws(Failure) {
            try Outcome(record, request).checkQuietly()
        } catch {
            exitCode = Int(error.code.rawValue)
            let own = error.code == .httpFailure ? nil : record["outcome"]?["error"]?["message"]?.string
            errorMessage = own ?? error.message
        }
    }
}
