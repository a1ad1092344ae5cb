/// The field `Retry-After` (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// The delay from now, in milliseconds: the field's value is a number of seconds or a date. 0 if that has passed,
    /// `nil` if the value is neither.
    static func milliseconds(_ text: String, now: Int64) -> Int? {
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            let (product, overflow) = (Int(text) ?? .max).multipliedReportingOverflow(by: 1_000)
            return overflow ? .max : product
        }
        guard let date = HTTPDate.seconds(text, now: now) else { return nil }
        return Int(clamping: max(0, date &- now) &* 1_000)
    }
}
