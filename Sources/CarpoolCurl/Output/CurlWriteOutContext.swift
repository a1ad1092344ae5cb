/// What the variables of `-w` are computed from.
struct CurlWriteOutContext {
    let report: CurlReport
    /// The URL of the command line, and that of the last request; `nil` for texts that are no URLs.
    let url: CurlURL?
    let effectiveURL: CurlURL?

    init(_ report: CurlReport) {
        self.report = report
        url = try? CurlURL(report.url, [.guessesScheme, .allowsAllSchemes])
        effectiveURL = try? CurlURL(report.effectiveURL, [.guessesScheme, .allowsAllSchemes])
    }

    /// Why the transfer failed; `nil` if it did not.
    var errorMessage: String? {
        report.exitCode == 0 ? nil : report.errorMessage ?? CurlErrorText.of(Int32(report.exitCode))
    }

    /// The certificates, as curl prints them: `Cert` without its name.
    var certificates: String {
        report.certificates.joined().map { line in
            let text = line.utf8.hasPrefixIgnoringCase("cert:") ? String(line.dropFirst(5)) : line
            return text.hasSuffix("\n") ? text : text + "\n"
        }.joined()
    }

    /// curl's name of a version of HTTP.
    var httpVersion: String { report.httpVersion == "1.0" ? "1" : report.httpVersion }

    /// A port; -1 without a connection.
    func port(_ port: Int, of address: String) -> Int { address.isEmpty && port == 0 ? -1 : port }

    /// Bytes a second over the whole transfer.
    func speed(_ bytes: Int64) -> Int64 {
        let microseconds = report.totalMicroseconds
        let (product, overflows) = bytes.multipliedReportingOverflow(by: 1_000_000)
        if !overflows { return product / max(1, microseconds) }
        return microseconds >= 1_000_000 ? bytes / (microseconds / 1_000_000) : Int64.max
    }

    /// The values of a field of the last response, in order; names are compared without regard to case.
    func values(_ name: some Collection<UInt8>) -> [String] {
        report.headers.filter { $0.name.utf8.equalsIgnoringCase(name) }.map(\.value)
    }
}
