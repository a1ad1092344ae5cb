internal import CarpoolHTTP
internal import CarpoolSystem

/// A strong validator of a resource's version (RFC 9110, section 8.8): only with one can the rest of a body be
/// requested.
enum EntityValidator: Equatable, Sendable {
    /// A strong entity tag with its quotes.
    case entityTag(String)
    /// The time of the last change, as the origin sent it.
    case lastModified(String)

    /// The validator for `If-Range` (RFC 9110, section 13.1.5): the entity tag, if it is strong; without any, the time
    /// of the last change, if the response was generated at least a second later, so that no second change can have the
    /// same time.
    init?(_ head: ResponseHead) {
        if head.fields.has("etag") {
            guard let tag = head.fields.agreed("etag"), tag.utf8.count >= 2, tag.hasPrefix("\""), tag.hasSuffix("\"")
            else { return nil }
            self = .entityTag(tag)
            return
        }
        let now = WallClock.microseconds() / 1_000_000
        guard let modified = head.fields.agreed("last-modified"), let date = head.fields.agreed("date"),
            let changed = HTTPDate.seconds(modified, now: now), let made = HTTPDate.seconds(date, now: now),
            changed < made
        else { return nil }
        self = .lastModified(modified)
    }

    /// The value for `If-Range`.
    var text: String {
        switch self {
        case .entityTag(let tag): tag
        case .lastModified(let date): date
        }
    }

    /// Whether a response says that it is of this version. An origin that compares the validator of `If-Range` has one
    /// to send; one that sends none may have ignored the field.
    func isConfirmed(by head: ResponseHead) -> Bool { head.fields.agreed(fieldName) == text }

    /// Whether a response says that it is of another version, or of several.
    func isContradicted(by head: ResponseHead) -> Bool { head.fields.has(fieldName) && !isConfirmed(by: head) }

    private var fieldName: StaticString {
        switch self {
        case .entityTag: "etag"
        case .lastModified: "last-modified"
        }
    }
}
