internal import CarpoolHTTP
internal import CarpoolSystem
internal import Glibc

/// A file that is a part of a form, checked in the model's order (MP-06, MP-07): each check has its own failure.
struct MultipartFile {
    let path: String
    let name: String
    let contentType: String

    /// Finds out what the file is called and what it holds. A file that is called nothing in particular needs a name with an extension.
    init(_ path: String, of part: MultipartPart) throws(SessionError) {
        self.path = path
        let last = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.index(after: $0)...]) } ?? path
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw .multipart("body_part_url_invalid", "is no absolute path", path)
        }
        name = part.fileName ?? last
        let type = FileType.of(name: name)
        if part.fileName == nil, part.contentType == nil {
            guard type.hasExtension else {
                throw .multipart(
                    "body_part_filename_invalid", "has no name with an extension; give file_name and content_type", path
                )
            }
        }
        contentType = part.contentType ?? type.mimeType
    }

    /// Opens the bytes of the file that are wanted. Symbolic links are resolved first, and what they lead to is opened without following more.
    func open(offset: Int64, length: Int64?) throws(SessionError) -> SegmentedBody.Segment {
        guard let resolved = realpath(path, nil) else {
            let code = errno
            guard code != ENOENT else { throw .multipart("body_part_file_not_reachable", "is not there", path) }
            throw .multipart("body_part_file_not_reachable_with_error", "cannot be reached", path, code)
        }
        defer { free(resolved) }
        var status = stat()
        guard lstat(resolved, &status) == 0 else {
            throw .multipart("body_part_file_size_query_failed_with_error", "does not tell its size", path, errno)
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw .multipart("body_part_file_is_directory", "is a directory", path)
        default:
            throw .multipart("body_part_file_size_not_available", "is a pipe, a socket or a device, of no size", path)
        }
        let descriptor: FileDescriptor
        do throws(SystemError) {
            descriptor = try FileDescriptor.open(String(cString: resolved), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        } catch {
            throw .multipart("body_part_input_stream_creation_failed", "cannot be opened", path, error.code)
        }
        guard !descriptor.isInProc else {
            throw .multipart("body_part_file_size_not_available", "is a file of /proc, which tells no size", path)
        }
        let left = Int64(status.st_size) - offset
        guard left >= 0 else { throw .multipartLength(expected: offset, read: Int64(status.st_size), path) }
        guard length ?? 0 <= left else { throw .multipartLength(expected: length ?? 0, read: left, path) }
        let file = BodyFile(descriptor, path: String(cString: resolved), sizeBytes: Int64(status.st_size))
        return .file(file, offset: offset, length: length ?? left)
    }
}
