internal import CarpoolHTTP

/// The body of a request in a command line for curl.
struct CurlBody {
    /// The command whose output is the body, if it does not fit in an argument.
    private(set) var source: String?
    /// curl's option, if there is a body.
    private(set) var argument: String?

    /// Linux takes no argument of 128 KiB or more; the quotes need room too.
    private static let argumentBytes = 65_536

    init(of request: TransportRequest) {
        // A HEAD has no body, whatever the parameters.
        guard request.sendsLength, request.method != .head else { return }
        switch request.body {
        case .none: argument = "--data-binary ''"
        case .bytes(let bytes): set(bytes)
        case .source: argument = "--data-binary @-"
        case .file(let file, let offset, let length): set(file, offset: offset, length: length)
        }
    }

    private mutating func set(_ bytes: [UInt8]) {
        guard let text = ShellText.printable(bytes), bytes.count <= CurlBody.argumentBytes else {
            // printf is a shell builtin, so that the limit on arguments does not apply.
            source = "printf \(ShellText.format(bytes))"
            argument = "--data-binary @-"
            return
        }
        // Only --data-raw does not interpret a leading @; older versions of curl do not have it.
        argument = "\(text.hasPrefix("@") ? "--data-raw" : "--data-binary") \(ShellText.quoted(text))"
    }

    private mutating func set(_ file: BodyFile, offset: Int64, length: Int64) {
        argument = "--data-binary @-"
        guard let path = file.path else { return }
        if offset == 0, length == file.sizeBytes {
            argument = "--data-binary \(ShellText.quoted("@\(path)"))"
        } else {
            source = "tail -c +\(offset &+ 1) -- \(ShellText.quoted(path)) | head -c \(length)"
        }
    }
}
