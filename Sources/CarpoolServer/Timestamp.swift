/// Points in time as people and programs read them: RFC 3339 in UTC with microseconds, `2026-09-30T10:00:00.123456Z`.
enum Timestamp {
    /// The text for microseconds since 1970-01-01T00:00:00Z.
    static func text(_ microseconds: Int64) -> String {
        String(unsafeUninitializedCapacity: 27) { write(microseconds, to: $0) }
    }

    /// Writes the 27 characters; the date by Howard Hinnant's civil_from_days, which needs neither a table nor the C library's lock.
    private static func write(_ microseconds: Int64, to out: UnsafeMutableBufferPointer<UInt8>) -> Int {
        let time = max(0, microseconds)
        let seconds = time / 1_000_000
        let (days, rest) = (seconds / 86_400, seconds % 86_400)
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let parts: [(Int64, Int, Character)] = [
            (year, 4, "-"), (month, 2, "-"), (day, 2, "T"), (rest / 3_600, 2, ":"), (rest / 60 % 60, 2, ":"),
            (rest % 60, 2, "."),
            (time % 1_000_000, 6, "Z"),
        ]
        var position = 0
        for (value, width, separator) in parts {
            var value = value
            for i in stride(from: width - 1, through: 0, by: -1) {
                out[position + i] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10)
                value /= 10
            }
            out[position + width] = separator.asciiValue ?? 0
            position += width + 1
        }
        return position
    }
}
