/// The tokenizer's error: why a text is not JSON, and where. Smaller than ``JSONError``.
struct JSONFailure: Sendable {
    let code: JSONError.Code
    let reason: StaticString
    /// The number of bytes that had been read when the error was found.
    let offset: Int

    /// The error with line and column.
    func error(in text: UnsafeRawBufferPointer) -> JSONError {
        var error = JSONError(code, reason.description)
        let read = text.prefix(offset)
        error.offset = read.count
        error.line = read.reduce(1) { $1 == UInt8(ascii: "\n") ? $0 &+ 1 : $0 }
        error.column = read.reversed().prefix { $0 != UInt8(ascii: "\n") }.count &+ 1
        return error
    }
}
