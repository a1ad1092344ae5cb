internal import CarpoolHTTP

/// How a command line for curl gets the body of a request.
struct CurlBody {
    /// The command whose output is the body, if it does not fit an argument.
    private(set) var source: String?
    /// curl's option, if there is a body.
    private(set) var argument: String?

    /// Linux takes no argument of 128 KiB or more; the quotes need room too.
    private static let argumentBytes = 65_536

    init(of request: TransportRequest) {
        // A HEAD has no body, whatever was said.
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
            // printf is a part of the shell, so that no limit on arguments matters.
            source = "printf \(ShellText.format(bytes))"
            argument = "--data-binary @-"
            return
        }
        // Only --data-raw takes a leading @ for itself; older versions of curl do not have it.
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
