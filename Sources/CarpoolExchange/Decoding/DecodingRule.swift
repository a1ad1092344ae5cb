package import CarpoolJSON

/// What becomes of a body that has a content coding, whatever its output is.
package enum DecodingRule {
    /// No coding is requested, and the bytes stay as they are: curl without `--compressed`.
    case never
    /// Codings are requested and removed: curl with `--compressed`.
    case always
    /// The same, but a compressed file that its server labels with the format of the file, such as `a.tar.gz` with
    /// `Content-Encoding: gzip`, stays as it is: `carpool get`. Browsers and wget do so.
    case unlessFile

    /// Writes the parameter `decode` of a request or a session.
    package func write(to writer: inout JSONWriter) {
        switch self {
        case .never: writer.member("decode", false)
        case .always: writer.member("decode", true)
        case .unlessFile: writer.member("decode", static: "unless_file")
        }
    }
}
