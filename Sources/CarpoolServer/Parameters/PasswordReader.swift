internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSystem

/// Reads a password: a text, or the content of a file or a descriptor, which a thread of the worker has read.
struct PasswordReader {
    let files: CallFiles
    /// The caller, who may name files.
    let client: (any Caller)?

    /// Reads texts alone.
    static var texts: PasswordReader { PasswordReader(files: .none, client: nil) }

    /// The password; empty if there is none. Its value has passed the schema.
    func password(_ json: JSON?, path: String) throws(RPCError) -> String {
        guard let json, json.kind == .object else {
            return try PasswordReader.checked(json?.string ?? "", path: path)
        }
        if let file = json["file"]?.string {
            if let client { try files.access(or: client.pathAccess).check(file) }
            try AbsolutePath.check(file, at: "\(path).file")
        }
        switch files.passwords[path] {
        case .success(let bytes)?:
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw .invalidParams(path: path, message: "bytes that are not UTF-8", expected: "text in UTF-8")
            }
            return try PasswordReader.checked(text, path: path)
        case .failure(let failure)?: throw PasswordReader.refusal(failure, at: path)
        case nil: throw .notOpened(path)
        }
    }

    /// A text without control characters.
    static func checked(_ text: String, path: String) throws(RPCError) -> String {
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw .invalidParams(
                path: path, message: "a control character", expected: "text without control characters")
        }
        return text
    }

    private static func refusal(_ failure: NamedContent.Failure, at place: String) -> RPCError {
        switch failure {
        case .tooLarge(let bytes):
            .invalidParams(
                path: place, message: "the file has \(bytes) bytes",
                expected: "a password of at most \(PasswordNames.maximumBytes) bytes")
        default: .unread(failure, at: place)
        }
    }
}

extension RPCError {
    /// A content that was not read.
    static func unread(_ failure: NamedContent.Failure, at place: String) -> RPCError {
        switch failure {
        case .cannotOpen(let failure, let path): .cannotOpen(failure, path: path)
        case .cannotRead(let error, let path):
            .cannotOpen(path: path, code: error.code, reason: error.reason)
        case .noFile(let index):
            .invalidParams(
                path: place, message: "descriptor \(index) did not come with the line, or is no regular file",
                expected: "the index of a passed descriptor of a regular file")
        case .tooLarge(let bytes):
            .invalidParams(path: place, message: "the file has \(bytes) bytes", expected: "a shorter file")
        }
    }
}
