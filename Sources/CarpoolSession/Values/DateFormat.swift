/// A pattern for points in time in UTC, after strftime (POSIX.1-2017): `%Y-%m-%d %H:%M:%S`.
///
/// `%Y` year of four digits, `%m` month, `%d` day, `%H` hour, `%M` minute, `%S` second, each of two digits; `%L`
/// milliseconds of three, `%f` microseconds of six digits; `%j` day of the year of three; `%s` whole seconds since
/// 1970; `%F` is `%Y-%m-%d`, `%T` is `%H:%M:%S`, `%%` is a percent sign. All other characters are copied. There are no
/// names of days and months: they would depend on a language.
public struct DateFormat: Sendable, Equatable {
    /// The pattern as given.
    public let pattern: String

    /// The ISO 8601 format for the internet (RFC 3339), whole seconds.
    static let internet = DateFormat(known: "%FT%TZ")

    /// Makes a format; `nil` if a percent sign is followed by another letter than those above.
    public init?(_ pattern: String) {
        guard CivilTime.epoch.text(pattern) != nil else { return nil }
        self.pattern = pattern
    }

    private init(known pattern: String) { self.pattern = pattern }

    /// The text for seconds since 1970; `nil` outside the years 0 to 9999.
    public func text(forSecondsSince1970 seconds: Double) -> String? {
        CivilTime(secondsSince1970: seconds).flatMap { $0.text(pattern) }
    }
}
