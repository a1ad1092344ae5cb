/// A number of seconds in a field (RFC 9111, section 1.2.2).
enum DeltaSeconds: Sendable, Equatable {
    /// The field has no such number.
    case absent
    /// What is there is no number, or several that differ.
    case invalid
    /// The seconds, at most 2^31.
    case seconds(Int64)

    /// What larger numbers count as.
    static let maximum: Int64 = 1 << 31

    /// Reads digits alone.
    init(_ bytes: UnsafeRawBufferPointer) {
        guard let value = DeltaSeconds.number(bytes, maximum: DeltaSeconds.maximum) else {
            self = .invalid
            return
        }
        self = .seconds(value)
    }

    /// A number of digits alone, at most a maximum; `nil` for anything else.
    static func number(_ bytes: UnsafeRawBufferPointer, maximum: Int64) -> Int64? {
        guard !bytes.isEmpty else { return nil }
        var value: Int64 = 0
        for byte in bytes {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            if value < maximum { value = min(maximum, value * 10 + Int64(byte - UInt8(ascii: "0"))) }
        }
        return value
    }

    /// The milliseconds, 0 for an invalid number; `nil` without one.
    var milliseconds: Int64? {
        switch self {
        case .absent: nil
        case .invalid: 0
        case .seconds(let seconds): seconds * 1_000
        }
    }

    /// The milliseconds of a valid number.
    var validMilliseconds: Int64? {
        if case .seconds(let seconds) = self { return seconds * 1_000 }
        return nil
    }

    /// Adds another number for the same directive: only an equal one leaves it valid.
    mutating func add(_ other: DeltaSeconds) { self = self == .absent || self == other ? other : .invalid }
}
