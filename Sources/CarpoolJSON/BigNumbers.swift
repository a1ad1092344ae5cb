/// Numbers that fit neither 64 bits nor a double, carried through jansson as marked strings.
///
/// Such a number must leave as the text that came in. jansson has no type for it, so its token is replaced by a string:
/// a mark, then the text. The mark is made of 96 random bits when the process starts and never leaves it, so no client can
/// write a string that reads as a number.
enum BigNumbers {
    /// A text without such numbers, and where each of them stood.
    struct Rewritten {
        var text: [UInt8] = []
        /// For each replaced token: the offset behind it in `text`, and how much longer all the text so far has become.
        var growth: [(end: Int, bytes: Int)] = []

        /// The offset in the original text for an offset in `text`.
        func originalOffset(of offset: Int) -> Int {
            offset &- (growth.last { $0.end <= offset }?.bytes ?? 0)
        }
    }

    static let mark: [UInt8] = {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        return (0..<16).map { _ in alphabet.randomElement() ?? 0 }
    }()

    /// Replaces every number outside strings that jansson would refuse; leaves anything else, right or wrong, as it is.
    static func rewrite(_ bytes: UnsafeRawBufferPointer) -> Rewritten {
        var result = Rewritten()
        result.text.reserveCapacity(bytes.count &+ bytes.count / 4)
        var position = 0
        while position < bytes.count {
            let end: Int
            switch bytes[position] {
            case UInt8(ascii: "\""): end = endOfString(bytes, from: position)
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): end = endOfNumber(bytes, from: position)
            default: end = position &+ 1
            }
            let token = UnsafeRawBufferPointer(rebasing: bytes[position..<end])
            if needsText(token) {
                result.text.append(UInt8(ascii: "\""))
                result.text.append(contentsOf: mark)
                result.text.append(contentsOf: token)
                result.text.append(UInt8(ascii: "\""))
                result.growth.append((result.text.count, result.text.count &- end))
            } else {
                result.text.append(contentsOf: token)
            }
            position = end
        }
        return result
    }

    /// The number's text, if the content of a string carries one.
    static func text(in content: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard content.count > mark.count, content.prefix(mark.count).elementsEqual(mark) else { return nil }
        return UnsafeRawBufferPointer(rebasing: content.dropFirst(mark.count))
    }

    private static func endOfString(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var position = start &+ 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position &+= bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(position &+ 1, bytes.count)
    }

    private static func endOfNumber(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var position = start &+ 1
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"),
                UInt8(ascii: "+"), UInt8(ascii: "-"):
                position &+= 1
            default: return position
            }
        }
        return position
    }

    /// Whether a token is a well-formed number (RFC 8259 §6) out of range for both of jansson's types.
    private static func needsText(_ token: UnsafeRawBufferPointer) -> Bool {
        // The shortest is 1e309.
        guard token.count >= 5, token[0] != UInt8(ascii: "\""), let isInteger = numberKind(token) else { return false }
        let text = String(decoding: token, as: UTF8.self)
        if isInteger { return Int64(text) == nil }
        return Double(text).map { !$0.isFinite } ?? true
    }

    /// True for an integer, false for a real, nil for what is no number.
    private static func numberKind(_ token: UnsafeRawBufferPointer) -> Bool? {
        var rest = token[...]
        if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        let whole = rest.prefix(while: isDigit)
        guard !whole.isEmpty, whole.count == 1 || whole.first != UInt8(ascii: "0") else { return nil }
        rest = rest.dropFirst(whole.count)
        if rest.isEmpty { return true }
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix(while: isDigit)
            guard !fraction.isEmpty else { return nil }
            rest = rest.dropFirst(fraction.count &+ 1)
        }
        if let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
            rest.removeFirst()
            if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { rest.removeFirst() }
            let exponent = rest.prefix(while: isDigit)
            guard !exponent.isEmpty else { return nil }
            rest = rest.dropFirst(exponent.count)
        }
        return rest.isEmpty ? false : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}
