import CJansson

/// Owns one parsed tree; every `JSON` view of it keeps it alive.
final class JSONDocument {
    let root: UnsafeMutablePointer<json_t>
    /// Some strings of this tree stand for numbers that jansson cannot hold; see `BigNumbers`.
    let holdsBigNumbers: Bool

    init(root: UnsafeMutablePointer<json_t>, holdsBigNumbers: Bool) {
        self.root = root
        self.holdsBigNumbers = holdsBigNumbers
    }

    deinit { json_decref(root) }

    /// Duplicate names are refused because readers differ on which one counts; scalars are values too (RFC 8259 §2);
    /// U+0000 is an ordinary character of a string.
    private static let flags = Int(JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL)

    /// Parses one JSON text.
    ///
    /// Only when jansson says that a number does not fit is the text read a second time, with such numbers replaced.
    static func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> JSONDocument {
        var failure = json_error_t()
        if let root = load(bytes, &failure) { return JSONDocument(root: root, holdsBigNumbers: false) }
        guard CJansson_error_code(&failure) == Int32(json_error_numeric_overflow.rawValue) else {
            throw error(from: &failure, offset: Int(failure.position), in: bytes)
        }
        let rewritten = BigNumbers.rewrite(bytes)
        if let root = rewritten.text.withUnsafeBytes({ load($0, &failure) }) {
            return JSONDocument(root: root, holdsBigNumbers: true)
        }
        throw error(from: &failure, offset: rewritten.originalOffset(of: Int(failure.position)), in: bytes)
    }

    /// Parses the object or array at the beginning of a text, if it can be parsed at once, and gives its length too.
    static func parse(prefixOf bytes: UnsafeRawBufferPointer) -> (document: JSONDocument, byteCount: Int)? {
        // Of a number, jansson would have read the byte behind it too.
        guard let first = bytes.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return nil }
        var failure = json_error_t()
        guard let root = load(bytes, &failure, flags | Int(JSON_DISABLE_EOF_CHECK)) else { return nil }
        // Where reading ended stands there after a success too.
        return (JSONDocument(root: root, holdsBigNumbers: false), Int(failure.position))
    }

    private static func load(
        _ bytes: UnsafeRawBufferPointer, _ failure: inout json_error_t, _ flags: Int = flags
    ) -> UnsafeMutablePointer<json_t>? {
        // jansson refuses a null pointer before it looks at the length.
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return json_loadb("", 0, flags, &failure) }
        return json_loadb(start.assumingMemoryBound(to: CChar.self), bytes.count, flags, &failure)
    }

    private static func error(
        from failure: inout json_error_t, offset: Int, in bytes: UnsafeRawBufferPointer
    ) -> JSONError {
        let text = withUnsafeBytes(of: &failure.text) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        var error = JSONError(code(CJansson_error_code(&failure)), text)
        let read = bytes.prefix(max(0, offset))
        error.offset = read.count
        error.line = read.reduce(1) { $1 == UInt8(ascii: "\n") ? $0 &+ 1 : $0 }
        error.column = read.reversed().prefix { $0 != UInt8(ascii: "\n") }.count &+ 1
        return error
    }

    private static func code(_ raw: Int32) -> JSONError.Code {
        switch UInt32(bitPattern: raw) {
        case json_error_duplicate_key.rawValue: .duplicateKey
        case json_error_invalid_utf8.rawValue: .invalidUTF8
        case json_error_premature_end_of_input.rawValue: .incomplete
        case json_error_stack_overflow.rawValue: .tooDeep
        case json_error_out_of_memory.rawValue: .outOfMemory
        default: .syntax
        }
    }
}
