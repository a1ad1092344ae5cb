internal import CarpoolHTTP

/// The meaning of a response to a range request (RFC 9110, section 14.2). A value: the head in, the step out.
enum ResumedResponse: Equatable {
    /// The rest follows; the whole has so many bytes, if that is known.
    case goOn(total: Int64?)
    /// The whole body follows, of another version or because the origin does not support ranges.
    case startAnew(DownloadRestart)
    /// The response is of no use: request the whole body.
    case askForWhole(DownloadRestart)
    /// The origin has no bytes behind these: request the last byte, to learn whether the version is still the same.
    case askForLastByte(of: Int64)
    /// The response is invalid; the existing bytes are kept.
    case refuse

    /// Reads a response head.
    /// - Parameters:
    ///   - offset: the first byte that was requested.
    ///   - validator: the validator of the existing bytes.
    ///   - total: the size of the whole, if it was known before.
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

/// Why a download restarted instead of resuming.
public enum DownloadRestart: String, Sendable {
    /// The origin has another version of the resource.
    case resourceChanged = "resource_changed"
    /// The origin sent the whole body although a range was requested.
    case rangeIgnored = "range_ignored"
    /// The origin sent another range than the requested one.
    case rangeMismatch = "range_mismatch"
    /// The partial file is gone, or has fewer bytes than the token states.
    case partialFileLost = "partial_file_lost"
}
