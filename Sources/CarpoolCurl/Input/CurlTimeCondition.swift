internal import Glibc

/// `-z`: only a response that is newer or older than a time is wanted.
struct CurlTimeCondition: Equatable {
    enum Kind: Equatable {
        case modifiedSince
        /// `-z -DATE`
        case unmodifiedSince
        /// `-z =DATE`
        case lastModified
    }

    let kind: Kind
    /// Seconds since 1970.
    let time: Int64

    /// Reads the text of `-z`: a date, or a file whose time of modification counts, after `-`, `=` or `+`. `nil` with a
    /// warning for another text: the transfer has no condition.
    static func read(_ text: String) -> (condition: CurlTimeCondition?, warnings: [String]) {
        let kind: Kind
        switch text.utf8.first {
        case UInt8(ascii: "-"): kind = .unmodifiedSince
        case UInt8(ascii: "="): kind = .lastModified
        default: kind = .modifiedSince
        }
        let rest = kind == .modifiedSince && text.utf8.first != UInt8(ascii: "+") ? text : String(text.dropFirst())
        if let time = CurlDate.parse(rest) { return (CurlTimeCondition(kind: kind, time: time), []) }
        var status = stat()
        if stat(rest, &status) == 0 {
            return (CurlTimeCondition(kind: kind, time: Int64(status.st_mtim.tv_sec)), [])
        }
        let reason = String(cString: strerror(errno))
        return (
            nil,
            [
                "Failed to get filetime: \(reason)",
                "Illegal date format for -z, --time-cond (and not a filename). Disabling time condition. "
                    + "See curl_getdate(3) for valid date syntax.",
            ]
        )
    }

    /// The field that is sent.
    var field: CurlHeaderField {
        let name =
            switch kind {
            case .modifiedSince: "If-Modified-Since"
            case .unmodifiedSince: "If-Unmodified-Since"
            case .lastModified: "Last-Modified"
            }
        return CurlHeaderField(name, CurlDate.http(time))
    }

    /// Whether a response with this Last-Modified is wanted. For one that is not, curl reads no body and reports the
    /// status 304; a transfer with a range is always wanted.
    func isMet(lastModified: String?) -> Bool {
        guard let modified = lastModified.flatMap(CurlDate.parse), modified != 0, time != 0 else { return true }
        return kind == .unmodifiedSince ? modified < time : modified > time
    }
}
