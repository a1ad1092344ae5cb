/// A form (`-F`): a body of type multipart/form-data with the bytes that curl 8.14.1 sends.
struct CurlForm: Equatable {
    /// A piece of the body.
    enum Segment: Equatable {
        case bytes([UInt8])
        /// The whole content of a file; the length if it is a regular one.
        case file(String, length: Int64?)
        /// The rest of standard input, which is a regular file: the length.
        case standardInput(length: Int64)
    }

    let segments: [Segment]
    /// The length of the body; `nil` if curl does not know it and sends chunks.
    let length: Int64?
    /// The value of Content-Type, with the boundary.
    let contentType: String
    /// Warnings about the options, without curl's prefix.
    let warnings: [String]

    static let unreadable = CurlError(CurlExitCode.readError)

    /// Makes a form. Files are looked up now and read when the form is sent, but files with an encoder and standard
    /// input that is no regular file are read now. A line `-H Content-Type` gives the type of the form.
    init(
        _ arguments: [CurlFormArgument], escapes: Bool, headerLines: [String] = [], standardInput: Int32 = 0
    ) throws(CurlError) {
        var generator = SystemRandomNumberGenerator()
        try self.init(
            arguments, escapes: escapes, headerLines: headerLines, standardInput: standardInput, using: &generator)
    }

    init(
        _ arguments: [CurlFormArgument], escapes: Bool, headerLines: [String] = [], standardInput: Int32 = 0,
        using generator: inout some RandomNumberGenerator
    ) throws(CurlError) {
        var parser = CurlFormParser(standardInput: standardInput)
        for argument in arguments { try parser.add(argument) }
        var form = try parser.finish()
        form.type = headerLines.value(of: "Content-Type").map { Array($0.utf8) } ?? Array("multipart/form-data".utf8)
        var writer = CurlFormWriter(escapes: escapes, standardInput: standardInput)
        contentType = try writer.write(form, using: &generator)
        segments = writer.finish()
        length = writer.length
        warnings = parser.warnings
    }
}
