internal import CarpoolHTTP
internal import CarpoolSystem
internal import Glibc

/// A file that is a part of a form, checked in the model's order (MP-06, MP-07): each check has its own failure.
struct MultipartFile: Sendable {
    let path: String
    let offset: Int64
    let length: Int64?
    let fileName: String?
    let givenType: String?

    /// An opened file, and the fields of its part.
    struct Opened: Sendable {
        let file: NamedFile
        let name: String
        let contentType: String
        let offset: Int64
        let length: Int64
    }

    /// Determines the name and type of the file, and opens it. Without an explicit name, the file's own name needs an
    /// extension. May block: for a thread of a ``Worker``.
    func open(closer: WorkerFile.Closer?) throws(SessionError) -> Opened {
        let last = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.index(after: $0)...]) } ?? path
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw .multipart("body_part_url_invalid", "is not an absolute path", path)
        }
        let name = fileName ?? last
        let type = FileType.of(name: name)
        if fileName == nil, givenType == nil {
            guard type.hasExtension else {
                throw .multipart(
                    "body_part_filename_invalid", "has a name without an extension; set file_name and content_type",
                    path
                )
            }
        }
        let file: NamedFile
        do throws(RegularFile.Failure) {
            file = try NamedFile.open(path, closer: closer)
        } catch {
            throw MultipartFile.failure(error, path)
        }
        let left = file.size - offset
        guard left >= 0 else { throw .multipartLength(expected: offset, read: file.size, path) }
        guard length ?? 0 <= left else { throw .multipartLength(expected: length ?? 0, read: left, path) }
        return Opened(
            file: file, name: name, contentType: givenType ?? type.mimeType, offset: offset, length: length ?? left)
    }

    private static func failure(_ failure: RegularFile.Failure, _ path: String) -> SessionError {
        let code = failure.reason.code
        return switch failure {
        case .unreachable where code == ENOENT: .multipart("body_part_file_not_reachable", "does not exist", path)
        case .unreachable:
            .multipart("body_part_file_not_reachable_with_error", "cannot be reached", path, code)
        case .ofThisProcess:
            .multipart(
                "body_part_file_size_not_available",
                "is a file of the daemon or of /proc; pass a descriptor, or name another file", path)
        case .notRegular where code == EISDIR: .multipart("body_part_file_is_directory", "is a directory", path)
        case .notRegular:
            .multipart("body_part_file_size_not_available", "is a pipe, a socket or a device, which has no size", path)
        case .unreadable: .multipart("body_part_input_stream_creation_failed", "cannot be opened", path, code)
        }
    }
}
