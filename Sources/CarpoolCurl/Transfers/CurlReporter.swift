internal import CarpoolJSON

/// Collects what `-w` prints of a transfer, from the records of its exchanges.
struct CurlReporter {
    private(set) var report = CurlReport()

    init(_ transfer: CurlPlannedTransfer) {
        report.number = transfer.number
        report.urlNumber = transfer.urlNumber
        report.url = transfer.url
    }

    mutating func update(_ change: (inout CurlReport) -> Void) { change(&report) }

    /// Takes a request before it is sent.
    mutating func begin(_ hop: CurlHop, usesProxy: Bool) {
        report.method = hop.method
        report.effectiveURL = hop.url.text
        report.scheme = hop.url.scheme
        report.redirects = hop.redirects
        report.referer = hop.referer
        report.usesProxy = usesProxy
        report.redirectURL = nil
    }

    /// Takes the head of a response.
    mutating func take(_ head: CurlResponseHead) {
        report.status = head.status
        report.httpVersion = head.version
        report.contentType = head.value("Content-Type")
        report.headers = head.fields
        report.headerBytes += Int64(head.raw.count)
    }

    /// Takes the record of an exchange; the sizes of its heads are those of the raw ones.
    mutating func take(_ record: JSON) {
        let (headBytes, usesProxy) = (report.headerBytes, report.usesProxy)
        report.take(hopsOf: record)
        (report.headerBytes, report.usesProxy) = (headBytes, usesProxy)
    }
}
