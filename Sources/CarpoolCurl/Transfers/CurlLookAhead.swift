/// Whether calls of later transfers are sent before the present one has ended.
///
/// The daemon begins each when the one before has succeeded, so that nothing is sent that would not be sent one after
/// the other, and the command's round trip to the daemon takes no time between two exchanges.
struct CurlLookAhead {
    private var skips = 0

    /// How many calls are sent ahead.
    static let maximum = 8
    /// After so many calls that were sent in vain, none is sent ahead any more.
    private static let maximumSkips = 64

    var isOn: Bool { skips < CurlLookAhead.maximumSkips }

    /// Notes that a call was not carried out, because the exchange before it has failed or was a redirect.
    mutating func didSkip() { skips += 1 }

    /// Whether the first request of a transfer depends on nothing that the transfers before it change: neither a body,
    /// nor files that they write, nor cookies. The file of `-D` has to be one of those that are open: the first
    /// transfer that cannot open it ends the command line, and nothing of it is sent.
    static func suits(_ transfer: CurlPlannedTransfer, headFiles: Set<String>) -> Bool {
        let request = transfer.operation.options.request
        let headFile = transfer.operation.options.response.headFile
        return (headFile.map { $0 == "-" || $0 == "%" || headFiles.contains($0) } ?? true)
            && transfer.body == .none && ["GET", "HEAD"].contains(CurlMethod.of(request, .none))
            && request.resume == nil && request.etagSave == nil && request.etagCompare == nil
            && request.timeCondition == nil && request.cookies.allSatisfy { $0.contains("=") }
            && request.cookieJar == nil
    }
}
