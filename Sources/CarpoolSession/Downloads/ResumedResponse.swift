internal import CarpoolHTTP

/// The meaning of a response to a range request (RFC 9110, section 14.2). A value: the head in, the step out.
enum ResumedResponse: Equatable {
    /// The body is the requested rest, up to the end of the complete file, which has so many bytes.
    case resume(total: Int64)
    /// The body is a complete file, of another version or because the origin does not support ranges.
    case restart(DownloadRestartReason)
    /// The response cannot be used: request the complete file.
    case requestWhole(DownloadRestartReason)
    /// The origin has no bytes behind these: request the last byte, to learn whether the version is still the same.
    case requestLastByte(of: Int64)
    /// The origin rejected the request; the existing bytes are kept.
    case reject

    /// Reads a response head.
    /// - Parameters:
    ///   - offset: the first byte that was requested.
    ///   - validator: the validator of the existing bytes.
    ///   - total: the size of the complete file, if it was known before.
    ///   - isSameResource: whether the existing bytes are of the resource that has answered.
    init(
        _ head: ResponseHead, offset: Int64, validator: EntityValidator, total: Int64?, isSameResource: Bool = true
    ) {
        let range = ContentRange(head)
        let isOther = !isSameResource || validator.isContradicted(by: head)
        switch head.status {
        case 200:
            self = .restart(isOther ? .resourceChanged : .rangeIgnored)
        case 206:
            guard !isOther else {
                self = .requestWhole(.resourceChanged)
                return
            }
            // Without the size on either side the part may end anywhere.
            guard let bytes = range?.bytes, bytes.lowerBound == offset, let whole = range?.total ?? total,
                bytes.upperBound == whole - 1, total ?? whole == whole, !head.hasContentCoding
            else {
                self = .requestWhole(.rangeMismatch)
                return
            }
            self =
                validator.isConfirmed(by: head)
                ? .resume(total: whole) : .requestWhole(.validatorMissing)
        case 416:
            self =
                if isSameResource, let whole = range?.total, whole == offset, whole > 0 {
                    .requestLastByte(of: whole)
                } else { .requestWhole(.resourceChanged) }
        default: self = .reject
        }
    }
}

extension ResponseHead {
    /// Whether the body has a content coding, although none was asked for. Offsets in encoded bytes are not offsets in
    /// the file, and an origin that encodes one response may not encode the next one.
    var hasContentCoding: Bool {
        fields.has("content-encoding") && !fields.first("content-encoding", is: "identity")
    }
}

/// Why a download restarted instead of resuming.
public enum DownloadRestartReason: String, Sendable {
    /// The origin has another version of the resource.
    case resourceChanged = "resource_changed"
    /// The origin sent the whole body although a range was requested.
    case rangeIgnored = "range_ignored"
    /// The origin sent another range than the requested one, or one of which it is not certain that it is the rest.
    case rangeMismatch = "range_mismatch"
    /// The origin sent a range without the validator that says which version it is of.
    case validatorMissing = "validator_missing"
    /// The partial file is gone, or has fewer bytes than the token states.
    case partialFileLost = "partial_file_lost"
    /// The partial file holds another version than the token states, or something else has changed it.
    case partialFileChanged = "partial_file_changed"
}
