/// Reads the numbers of options.
enum CurlNumber {
    /// A number that is not negative.
    static func positive(_ text: String) throws(CurlError) -> Int {
        let number = try signed(text)
        if number < 0 { throw CurlValueError.negativeNumber }
        return number
    }

    /// Digits; `nil` for other texts, and for a number that does not fit.
    static func whole(_ text: String) -> Int? { text.utf8.allSatisfy(\.isDigit) ? Int(text) : nil }

    /// Digits, perhaps after a minus.
    private static func signed(_ text: String) throws(CurlError) -> Int {
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        guard let number = whole(isNegative ? String(text.dropFirst()) : text) else { throw CurlValueError.badNumber }
        return isNegative ? -number : number
    }

    /// A number, or -1.
    static func orMinusOne(_ text: String) throws(CurlError) -> Int {
        let number = try signed(text)
        guard number >= -1 else { throw CurlValueError.badNumber }
        return number
    }

    /// Whole seconds, in milliseconds.
    static func seconds(_ text: String) throws(CurlError) -> Int {
        let seconds = try positive(text)
        guard seconds <= Int.max / 1_000 else { throw CurlValueError.tooLarge }
        return min(seconds, Int(Int32.max) / 1_000) * 1_000
    }

    /// Seconds with a fraction, in milliseconds. As in curl, what follows them does not count.
    static func milliseconds(_ text: String) throws(CurlError) -> Int {
        let digits = text.utf8.prefix(while: \.isDigit)
        guard let seconds = Int(digits.text), seconds <= Int.max / 100 else { throw CurlValueError.badNumber }
        var rest = text.utf8.dropFirst(digits.count)
        var fraction = 0
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            let decimals = rest.prefix(while: \.isDigit).text
            guard Int(decimals) != nil else { throw CurlValueError.tooLarge }
            fraction = Int((decimals + "000").prefix(3)) ?? 0
        }
        guard seconds < Int(Int32.max) / 1_000 else { return Int(Int32.max) }
        return seconds * 1_000 + fraction
    }

    /// A size with an optional unit.
    static func size(_ text: String, of kind: String) throws(CurlError) -> Int64 {
        let digits = text.utf8.prefix(while: \.isDigit)
        guard let number = Int64(digits.text) else {
            throw CurlValueError.badUse("invalid number specified for \(kind)", isWarning: true)
        }
        let unit = text.utf8.dropFirst(digits.count).text.lowercased()
        let factors: [String: Int64] = ["": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30]
        guard let factor = factors[unit] else {
            throw CurlValueError.badUse("unsupported \(kind) unit. Use G, M, K or B", isWarning: true)
        }
        let product = number.multipliedReportingOverflow(by: factor)
        guard !product.overflow else { throw CurlValueError.tooLarge }
        return product.partialValue
    }

    /// `--rate`: a number of transfers in a time, an hour if none is given; the least time between the starts of two,
    /// in milliseconds.
    static func rate(_ text: String) throws(CurlError) -> Int {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts[0].utf8.count <= maximumRateDigits else { throw CurlValueError.tooLarge }
        let count = try positive(parts[0])
        guard count > 0 else { throw CurlValueError.badUse }
        let milliseconds = parts.count == 2 ? try time(parts[1]) : hourMilliseconds
        guard count <= milliseconds else { throw CurlValueError.tooLarge }
        return milliseconds / count
    }

    private static let maximumRateDigits = 25
    private static let hourMilliseconds = 3_600_000

    /// The time of `--rate` such as `s` or `5m`, in milliseconds. As in curl, what follows the letter does not count.
    private static func time(_ text: String) throws(CurlError) -> Int {
        let digits = text.utf8.prefix(while: \.isDigit)
        // Without a number that fits, the letter is looked for where the number is.
        let number = Int(digits.text)
        let unit: Int
        switch number == nil ? text.utf8.first : text.utf8.dropFirst(digits.count).first {
        case UInt8(ascii: "s"): unit = 1_000
        case UInt8(ascii: "m"): unit = 60_000
        case UInt8(ascii: "h"): unit = hourMilliseconds
        case UInt8(ascii: "d"): unit = 24 * hourMilliseconds
        default: throw CurlValueError.badUse("unsupported --rate unit")
        }
        let total = unit.multipliedReportingOverflow(by: number ?? 1)
        guard !total.overflow else {
            var error = CurlValueError.tooLarge
            error.reasons = ["too large --rate unit"]
            throw error
        }
        return total.partialValue
    }

    /// A mode of a file in octal digits.
    static func mode(_ text: String) throws(CurlError) -> UInt32 {
        guard text.utf8.first?.isDigit == true, let mode = UInt32(text, radix: 8) else {
            throw CurlValueError.badNumber
        }
        guard mode <= 0o777 else { throw CurlValueError.tooLarge }
        return mode
    }
}
