internal import CarpoolExchange

/// How long a server asks to wait (Retry-After).
enum CurlRetryAfter {
    /// curl waits no longer.
    static let maximumSeconds = Int64(RetryOptions.maximumRetryAfterMilliseconds / 1_000)

    /// The seconds of the field: a number, or a date that is compared with the present time. 0 for another text and for
    /// dates that are over.
    static func seconds(_ value: String, now: Int64) -> Int64 {
        if let date = CurlDate.parse(value) { return min(max(0, date - now), maximumSeconds) }
        let digits = value.utf8.drop(while: \.isBlank).prefix(while: \.isDigit)
        return min(Int64(digits.text) ?? 0, maximumSeconds)
    }
}
