/// Decides what happens to the response of a download that goes on at an offset (`-C`).
enum CurlResume {
    enum Decision: Equatable {
        /// The body is added to the file.
        case write
        /// The file is complete.
        case drop
        /// The response is not the rest.
        case refuse
    }

    /// Decides from the head, as curl 8.14.1 does: the status 206 alone means nothing to it.
    static func decide(
        status: Int, contentRange: String?, contentLength: Int64?, offset: Int64
    ) -> Decision {
        if status == 416 { return .drop }
        if let contentRange {
            let rest = contentRange.utf8.drop { !$0.isDigit && $0 != UInt8(ascii: "*") }
            let digits = rest.prefix(while: \.isDigit)
            // A field without the number of a byte is about the whole.
            if digits.isEmpty ? status < 300 : Int64(digits.text) == offset { return .write }
        }
        return contentLength == offset ? .drop : .refuse
    }
}
