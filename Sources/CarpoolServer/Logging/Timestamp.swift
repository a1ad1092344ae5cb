internal import CarpoolJSON

/// Points in time as people and programs read them: RFC 3339 in UTC with microseconds, `2026-09-30T10:00:00.123456Z`.
enum Timestamp {
    private static let length = 27

    /// The text for microseconds since 1970-01-01T00:00:00Z.
    static func text(_ microseconds: Int64) -> String {
        String(unsafeUninitializedCapacity: length) { write(microseconds, to: $0) }
    }

    /// Writes the 27 characters; the date by Howard Hinnant's civil_from_days, which needs neither a table nor the C
    /// library's lock.
    fileprivate static func write(_ microseconds: Int64, to out: UnsafeMutableBufferPointer<UInt8>) -> Int {
        let time = UInt64(max(0, microseconds))
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
        put(year, 4, "-", at: 0, out)
        put(month, 2, "-", at: 5, out)
        put(day, 2, "T", at: 8, out)
        put(rest / 3_600, 2, ":", at: 11, out)
        put(rest / 60 % 60, 2, ":", at: 14, out)
        put(rest % 60, 2, ".", at: 17, out)
        put(time % 1_000_000, 6, "Z", at: 20, out)
        return length
    }

    @inline(__always)
    private static func put(
        _ number: UInt64, _ width: Int, _ separator: Unicode.Scalar, at position: Int,
        _ out: UnsafeMutableBufferPointer<UInt8>
    ) {
        var number = number
        for i in stride(from: position + width - 1, through: position, by: -1) {
            out[i] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10)
            number /= 10
        }
        out[position + width] = UInt8(ascii: separator)
    }
}

extension JSONWriter {
    /// A member with a point in time, in microseconds since 1970.
    mutating func member(_ name: StaticString, time microseconds: Int64) {
        key(name)
        string(capacity: 27) { Timestamp.write(microseconds, to: $0) }
    }
}
