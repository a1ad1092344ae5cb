/// A decimal number as text, in its shortest form: `1.10` is `1.1`, `1.0` is `1` (FE-17).
///
/// Written without an exponent up to 166 digits, which is the range of Foundation's decimals; beyond, with an exponent.
struct DecimalText: CustomStringConvertible {
    private static let maximumDigits = 166

    private let isNegative: Bool
    /// Without zeros at either end; empty for zero.
    private let digits: [UInt8]
    /// The position of the decimal point, counted from the first digit.
    private let point: Int

    /// Parses a JSON number (RFC 8259, section 6); `nil` for any other text, and for exponents beyond nine digits.
    init?(_ text: String) {
        var rest = text.utf8[...]
        isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest.removeFirst() }
        let whole = rest.prefix(while: DecimalText.isDigit)
        guard !whole.isEmpty, whole.count == 1 || whole.first != UInt8(ascii: "0") else { return nil }
        rest = rest.dropFirst(whole.count)
        var fraction = rest.prefix(0)
        if rest.first == UInt8(ascii: ".") {
            fraction = rest.dropFirst().prefix(while: DecimalText.isDigit)
            guard !fraction.isEmpty else { return nil }
            rest = rest.dropFirst(fraction.count &+ 1)
        }
        guard let exponent = DecimalText.exponent(rest) else { return nil }
        let all = Array(whole) + Array(fraction)
        let significant = all.drop { $0 == UInt8(ascii: "0") }
        let zeros = significant.reversed().prefix { $0 == UInt8(ascii: "0") }.count
        digits = Array(significant.dropLast(zeros))
        point = whole.count &- (all.count &- significant.count) &+ exponent
    }

    private static func exponent(_ text: Substring.UTF8View.SubSequence) -> Int? {
        guard let mark = text.first else { return 0 }
        var digits = text.dropFirst()
        guard mark | 0x20 == UInt8(ascii: "e"), let sign = digits.first else { return nil }
        if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { digits = digits.dropFirst() }
        guard !digits.isEmpty, digits.count <= 9, digits.allSatisfy(isDigit) else { return nil }
        let value = digits.reduce(0) { $0 &* 10 &+ Int($1 &- UInt8(ascii: "0")) }
        return sign == UInt8(ascii: "-") ? 0 &- value : value
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    var description: String {
        let sign = isNegative ? "-" : ""
        let text = String(decoding: digits, as: UTF8.self)
        if digits.isEmpty { return sign + "0" }
        if point > DecimalText.maximumDigits || digits.count &- point > DecimalText.maximumDigits {
            let fraction = digits.count > 1 ? ".\(text.dropFirst())" : ""
            return "\(sign)\(text.prefix(1))\(fraction)e\(point > 0 ? "+" : "")\(point &- 1)"
        }
        if point <= 0 { return "\(sign)0.\(String(repeating: "0", count: 0 &- point))\(text)" }
        if point >= digits.count { return sign + text + String(repeating: "0", count: point &- digits.count) }
        return "\(sign)\(text.prefix(point)).\(text.dropFirst(point))"
    }
}
