/// Reads the numbers of options.
enum CurlNumber {
    /// A number that is not negative.
    static func positive(_ text: String) throws(CurlError) -> Int {
        if text.utf8.first == UInt8(ascii: "-"), Int(text) != nil { throw CurlValueError.negativeNumber }
        guard let number = whole(text) else { throw CurlValueError.badNumber }
        return number
    }

    /// Digits; more than fit are the maximum, as in curl.
    static func whole(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
        return Int(text) ?? Int(Int32.max)
    }

    /// A number, or -1.
    static func orMinusOne(_ text: String) throws(CurlError) -> Int {
        if text == "-1" { return -1 }
        guard let number = whole(text) else { throw CurlValueError.badNumber }
        return number
    }

    /// Seconds with a fraction, in milliseconds.
    static func milliseconds(_ text: String) throws(CurlError) -> Int {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if text.utf8.first == UInt8(ascii: "-") {
            throw Double(text) == nil ? CurlValueError.badNumber : CurlValueError.negativeNumber
        }
        guard let seconds = whole(parts[0]) else { throw CurlValueError.badNumber }
        var fraction = 0
        if parts.count == 2 {
            guard let digits = whole(parts[1]), !parts[1].isEmpty else { throw CurlValueError.badNumber }
            _ = digits
            fraction = Int((parts[1] + "000").prefix(3)) ?? 0
        }
        guard seconds < Int(Int32.max) / 1_000 * 1_000 else { return Int(Int32.max) }
        return min(seconds * 1_000 + fraction, Int(Int32.max))
    }

    /// A size with an optional unit.
    static func size(_ text: String, of kind: String) throws(CurlError) -> Int64 {
        let digits = text.utf8.prefix(while: \.isDigit)
        guard let number = Int64(digits.text) else { throw CurlValueError.badNumber }
        let unit = text.utf8.dropFirst(digits.count).text.lowercased()
        let factors: [String: Int64] = ["": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30]
        guard let factor = factors[unit] else {
            throw CurlValueError.badUse("unsupported \(kind) unit. Use G, M, K or B", isWarning: true)
        }
        let product = number.multipliedReportingOverflow(by: factor)
        guard !product.overflow else { throw CurlValueError.badNumber }
        return product.partialValue
    }

    /// `--rate`: a number of transfers in a time; the least time between the starts of two.
    static func rate(_ text: String) throws(CurlError) -> Int {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let count = whole(parts[0]), count > 0 else { throw CurlValueError.badNumber }
        guard parts.count == 2 else { return 1_000 / count }
        let digits = parts[1].utf8.prefix(while: \.isDigit)
        let number = digits.isEmpty ? 1 : Int(digits.text) ?? 0
        guard number > 0 else { throw CurlValueError.badNumber }
        let units: [String: Int] = ["s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
        guard let unit = units[parts[1].utf8.dropFirst(digits.count).text] else {
            throw CurlValueError.badUse("unsupported --rate unit")
        }
        let total = unit.multipliedReportingOverflow(by: number)
        guard !total.overflow else { throw CurlValueError.badUse("too large --rate unit") }
        return total.partialValue / count
    }

    /// A mode of a file in octal digits.
    static func mode(_ text: String) throws(CurlError) -> UInt32 {
        guard let mode = UInt32(text, radix: 8), mode <= 0o777 else { throw CurlValueError.badNumber }
        return mode
    }
}
