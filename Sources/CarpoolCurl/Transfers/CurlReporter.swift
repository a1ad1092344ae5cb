internal import CarpoolJSON

/// Collects what `-w` prints of a transfer, from the records of its exchanges.
struct CurlReporter {
    private(set) var report = CurlReport()
    /// The rounds of authentication so far.
    private var challenges = 0

    init(_ transfer: CurlPlannedTransfer) {
        report.number = transfer.number
        report.urlNumber = transfer.urlNumber
        report.url = transfer.url
    }

    mutating func update(_ change: (inout CurlReport) -> Void) { change(&report) }

    /// Begins another attempt: what curl tells is that of the last one.
    mutating func restart(number: Int) {
        var report = CurlReport()
        report.number = number
        report.urlNumber = self.report.urlNumber
        report.url = self.report.url
        report.retries = self.report.retries
        report.certificates = self.report.certificates
        report.verifyResult = self.report.verifyResult
        self.report = report
        challenges = 0
    }

    /// Notes that a TLS handshake was not begun: the certificate was not verified.
    mutating func noteUnverified() { report.verifyResult = 1 }

    /// Takes a request before it is sent.
    mutating func begin(_ hop: CurlHop, usesProxy: Bool) {
        report.method = hop.method
        report.effectiveURL = hop.url.text
        report.scheme = hop.url.scheme
        report.redirects = hop.redirects + challenges
        report.referer = hop.referer
        report.usesProxy = usesProxy
        report.redirectURL = nil
    }

    /// Takes the head of a response.
    mutating func take(_ head: CurlResponseHead) {
        report.status = head.status
        report.httpVersion = head.version
        // That of a redirect too, as in curl.
        report.contentType = head.contentType ?? report.contentType
        report.headers = head.fields
        count(head)
    }

    /// Counts lines of heads. The number is that of the last head that has fields.
    private mutating func count(_ head: CurlResponseHead) {
        if head.lastFieldCount > 0 { report.headerCount = head.lastFieldCount }
        report.headerBytes += Int64(head.raw.count)
    }

    /// Takes the answers of a proxy to CONNECT.
    mutating func take(connect head: CurlResponseHead) { count(head) }

    /// Takes the record of an exchange; the sizes of its heads are those of the raw ones.
    mutating func take(_ record: JSON, isKnown: (Int) -> Bool) {
        let (headBytes, usesProxy) = (report.headerBytes, report.usesProxy)
        report.take(hopsOf: record, isKnown: isKnown)
        (report.headerBytes, report.usesProxy) = (headBytes, usesProxy)
        let rounds = CurlReport.challenges(in: record)
        challenges += rounds
        report.redirects += rounds
    }
}
