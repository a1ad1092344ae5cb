internal import CarpoolHTTP

/// What the response to a request for the rest of a body means (RFC 9110, section 14.2). A value: the head in, the step out.
enum ResumedResponse: Equatable {
    /// The rest comes; the whole has so many bytes, if that is known.
    case goOn(total: Int64?)
    /// The whole comes, in another version or because the origin serves no ranges.
    case startAnew(DownloadRestart)
    /// What comes is of no use: the whole is to be asked for.
    case askForWhole(DownloadRestart)
    /// The origin has nothing behind these bytes: its last byte is to be asked for, to learn whether they are still the same.
    case askForLastByte(of: Int64)
    /// It is no answer to the question; the bytes that are there stay.
    case refuse

    /// Reads a head.
    /// - Parameters:
    ///   - offset: the first byte that was asked for.
    ///   - validator: of the bytes that are there.
    ///   - total: of the whole, as far as it is known from before.
    init(_ head: ResponseHead, offset: Int64, validator: EntityValidator, total: Int64?) {
        let range = head.fields.first("content-range").flatMap { ContentRange($0) }
        switch head.status {
        case 200:
            self = .startAnew(validator.isContradicted(by: head) ? .resourceChanged : .rangeIgnored)
        case 206:
            guard !validator.isContradicted(by: head) else {
                self = .askForWhole(.resourceChanged)
                return
            }
            guard let bytes = range?.bytes, bytes.lowerBound == offset,
                range?.total == nil || bytes.upperBound &+ 1 == range?.total,
                total == nil || range?.total == nil || range?.total == total
            else {
                self = .askForWhole(.rangeMismatch)
                return
            }
            self = .goOn(total: range?.total ?? total)
        case 416:
            self =
                if let whole = range?.total, whole == offset, whole > 0 { .askForLastByte(of: whole) } else {
                    .askForWhole(.resourceChanged)
                }
        default: self = .refuse
        }
    }
}

/// Why a download that was to go on began anew.
public enum DownloadRestart: String, Sendable {
    /// The origin has another version of the resource.
    case resourceChanged = "resource_changed"
    /// The origin sends the whole although the rest was asked for.
    case rangeIgnored = "range_ignored"
    /// The origin sends another part than the one that was asked for.
    case rangeMismatch = "range_mismatch"
    /// The partial file is gone, or has fewer bytes than the token says.
    case partialFileLost = "partial_file_lost"
}
