internal import CarpoolJSON
internal import CarpoolSystem

/// Points in time as people and programs read them: RFC 3339 in UTC with microseconds, `2026-09-30T10:00:00.123456Z`.
enum Timestamp {
    private static let length = 27

    /// The text for microseconds since 1970-01-01T00:00:00Z.
    static func text(_ microseconds: Int64) -> String {
        String(unsafeUninitializedCapacity: length) { write(microseconds, to: $0) }
    }

    /// Writes the 27 characters; a time before 1970 as 1970-01-01.
    fileprivate static func write(_ microseconds: Int64, to out: UnsafeMutableBufferPointer<UInt8>) -> Int {
        let time = Int(max(0, microseconds))
        let (days, rest) = CivilDate.split(secondsSince1970: time / 1_000_000)
        let date = CivilDate(daysSince1970: days)
        put(date.year, 4, "-", at: 0, out)
        put(date.month, 2, "-", at: 5, out)
        put(date.day, 2, "T", at: 8, out)
        put(rest / 3_600, 2, ":", at: 11, out)
        put(rest / 60 % 60, 2, ":", at: 14, out)
        put(rest % 60, 2, ".", at: 17, out)
        put(time % 1_000_000, 6, "Z", at: 20, out)
        return length
    }

    @inline(__always)
    private static func put(
        _ number: Int, _ width: Int, _ separator: Unicode.Scalar, at position: Int,
        _ out: UnsafeMutableBufferPointer<UInt8>
    ) {
        var number = UInt(bitPattern: number)
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
