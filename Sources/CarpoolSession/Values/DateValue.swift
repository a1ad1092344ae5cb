/// Points in time on other scales. A double of seconds since 1970 is precise to a quarter of a microsecond, so a
/// difference or a product is computed from whole microseconds: 978307323.456 is 123.456 after the reference date, and
/// not 123.45600008964539.
enum DateValue {
    /// 2001-01-01T00:00:00Z in seconds since 1970, the reference date of Apple's dates.
    static let referenceDate = 978_307_200.0
    /// 2^53 microseconds, in seconds: the exact range of a double.
    private static let exactLimit = 9_007_199_254.0

    static func sinceReferenceDate(_ seconds: Double) -> Double {
        guard seconds.magnitude < exactLimit else { return seconds - referenceDate }
        return ((seconds * 1_000_000).rounded() - referenceDate * 1_000_000) / 1_000_000
    }

    static func since1970(referenceSeconds seconds: Double) -> Double {
        guard seconds.magnitude < exactLimit - referenceDate else { return seconds + referenceDate }
        return ((seconds * 1_000_000).rounded() + referenceDate * 1_000_000) / 1_000_000
    }

    static func milliseconds(_ seconds: Double) -> Double {
        guard seconds.magnitude < exactLimit else { return seconds * 1_000 }
        return (seconds * 1_000_000).rounded() / 1_000
    }
}
