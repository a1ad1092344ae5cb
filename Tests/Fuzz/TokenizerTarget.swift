internal import CJansson
@testable import CarpoolJSON

/// The tokenizer and jansson accept the same texts and make the same of them. Where they differ, it is on purpose:
///
/// - A name that stands twice: both accept it. jansson keeps the last value; the tokenizer keeps the text.
/// - A number beyond a double, or an integer beyond 64 bits: jansson refuses it, and the tokenizer keeps its text.
/// - U+0000 in a name: jansson refuses it.
/// - A NUL byte behind a number, or behind the whole text: jansson takes it for a blank or for the end.
enum TokenizerTarget {
    private static let flags = Int(JSON_DECODE_ANY | JSON_ALLOW_NUL)

    static func run(_ input: UnsafeRawBufferPointer) {
        let text = Array(input)
        let ours = try? JSON.parse(text)
        var error = json_error_t()
        let theirs = text.withUnsafeBytes { bytes in
            json_loadb(bytes.baseAddress?.assumingMemoryBound(to: CChar.self) ?? emptyText, bytes.count, flags, &error)
        }
        defer { json_decref(theirs) }
        guard let ours else {
            require(theirs == nil || text.contains(0), "jansson accepts what the tokenizer refuses")
            require((try? JSONText(text)) == nil, "what is no value is a text")
            return
        }
        if theirs == nil {
            let code = CJansson_error_code(&error)
            let isKnown =
                code == json_error_numeric_overflow.rawValue || code == json_error_null_byte_in_key.rawValue
            require(isKnown, "jansson refuses what the tokenizer accepts: error \(code)")
        }
        checkWriting(ours, text, theirs)
        checkPrefix(text)
    }

    private static var emptyText: UnsafePointer<CChar> {
        UnsafeRawPointer(("" as StaticString).utf8Start).assumingMemoryBound(to: CChar.self)
    }

    /// What is written of a value is the same value, with each number as it was.
    private static func checkWriting(_ json: JSON, _ text: [UInt8], _ theirs: UnsafeMutablePointer<json_t>?) {
        var writer = JSONWriter()
        writer.value(json)
        let written = writer.bytes
        guard let again = try? JSON.parse(written) else { fail("what was written is no JSON") }
        require(json == again, "what was written is another value")
        guard let compact = try? JSONText(text) else { fail("a value is no text") }
        guard let other = try? JSON.parse(compact.bytes) else { fail("a compact text is no JSON") }
        require(json == other, "a compact text is another value")
        // Of the outermost object's values that stand under one name, one is written.
        let isWhole = json.duplicateName == nil
        require(!isWhole || numbers(in: text) == numbers(in: written), "a number has changed")
        require(numbers(in: text) == numbers(in: compact.bytes), "a number has changed in the compact text")
        guard let theirs else { return }
        let reread = written.withUnsafeBytes {
            json_loadb($0.baseAddress?.assumingMemoryBound(to: CChar.self) ?? emptyText, $0.count, flags, nil)
        }
        defer { json_decref(reread) }
        require(reread != nil && json_equal(theirs, reread) == 1, "jansson reads another value in what was written")
    }

    /// The numbers as they are spelled: what begins with a digit or a minus sign outside strings.
    private static func numbers(in text: [UInt8]) -> [[UInt8]] {
        var found: [[UInt8]] = []
        var index = 0
        while index < text.count {
            let byte = text[index]
            if byte == UInt8(ascii: "\"") {
                index += 1
                while index < text.count, text[index] != UInt8(ascii: "\"") {
                    index += text[index] == UInt8(ascii: "\\") ? 2 : 1
                }
            } else if byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte) {
                let number = text[index...].prefix { "+-.eE0123456789".utf8.contains($0) }
                found.append(Array(number))
                index += number.count
                continue
            }
            index += 1
        }
        return found
    }

    /// The framer's way, which stops behind the value, sees the same as the whole way.
    private static func checkPrefix(_ text: [UInt8]) {
        guard let first = text.firstIndex(where: { $0 > 0x20 }), text[first] == 0x7B || text[first] == 0x5B else {
            return
        }
        let longer = text + Array("{]\"".utf8)
        var tokenizer = JSONTokenizer()
        require(longer.withUnsafeBytes { tokenizer.readPrefix(of: $0) }, "a value is none with something behind it")
        let root = longer.withUnsafeBytes { Array(tokenizer.outline.root.bytes(of: $0)) }
        require(text[first...].starts(with: root) && (try? JSON.parse(root)) != nil, "a value ends somewhere else")
    }
}
