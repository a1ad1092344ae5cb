internal import CarpoolSystem
internal import Glibc

/// A file that a response is written to. It has the mode 0666 without the bits of the umask, as curl's;
/// `--create-file-mode` is for other protocols.
struct CurlOutputFile: ~Copyable {
    /// How a file is opened.
    enum Mode: Equatable {
        /// An existing file is emptied.
        case truncate
        /// Bytes are added to an existing file (`-C`, `-D` after the first transfer).
        case append
        /// An existing file is an error (`-J`).
        case new
        /// Beside an existing file, one with `.1`, `.2` and so on is made (`--no-clobber`).
        case numbered
    }

    let descriptor: FileDescriptor
    /// The path, which has a number in the mode ``Mode/numbered``.
    let path: String

    /// The highest number that is tried.
    private static let maximumNumber = 99
    private static let newMode: UInt32 = 0o666
    private static let folderMode: mode_t = 0o750

    /// The mode by `--clobber` and `--no-clobber`. The name of a Content-Disposition overwrites no file by default.
    static func mode(clobbers: Bool?, isDisposition: Bool) -> Mode {
        switch clobbers {
        case true: .truncate
        case false: .numbered
        default: isDisposition ? .new : .truncate
        }
    }

    /// Opens a file for writing.
    static func open(_ path: String, _ mode: Mode) throws(CurlError) -> CurlOutputFile {
        let flags = O_WRONLY | O_CREAT
        do throws(SystemError) {
            switch mode {
            case .truncate: return try open(path, flags | O_TRUNC)
            case .append: return try open(path, flags | O_APPEND)
            case .new: return try open(path, flags | O_EXCL)
            case .numbered: return try openNumbered(path, flags | O_EXCL)
            }
        } catch {
            throw CurlError(
                exitCode: CurlExitCode.writeError, message: CurlErrorText.of(CurlExitCode.writeError),
                warnings: ["Failed to open the file \(path): \(error.reason)"])
        }
    }

    private static func open(_ path: String, _ flags: Int32) throws(SystemError) -> CurlOutputFile {
        CurlOutputFile(descriptor: try FileDescriptor.open(path, flags, mode: newMode), path: path)
    }

    private static func openNumbered(_ path: String, _ flags: Int32) throws(SystemError) -> CurlOutputFile {
        var number = 0
        while true {
            do throws(SystemError) {
                return try open(number == 0 ? path : "\(path).\(number)", flags)
            } catch {
                guard error.code == EEXIST || error.code == EISDIR, number < maximumNumber else { throw error }
                number += 1
            }
        }
    }

    /// Makes the folders of a path that do not exist (`--create-dirs`), with the mode 0750.
    static func createFolders(of path: String) throws(CurlError) {
        let bytes = Array(path.utf8)
        let slash = UInt8(ascii: "/")
        for end in bytes.indices.dropFirst() where bytes[end] == slash && bytes[end - 1] != slash {
            let folder = bytes[..<end].text
            if mkdir(folder, folderMode) == -1, errno != EEXIST, errno != EACCES {
                throw CurlError(
                    exitCode: CurlExitCode.writeError, message: message(of: errno, folder), form: .plain)
            }
        }
    }

    private static func message(of code: Int32, _ folder: String) -> String {
        switch code {
        case ENAMETOOLONG: "The directory name \(folder) is too long"
        case EROFS: "\(folder) resides on a read-only file system"
        case ENOSPC: "No space left on the file system that will contain the directory \(folder)"
        case EDQUOT: "Cannot create directory \(folder) because you exceeded your quota"
        default: "Error creating directory \(folder)"
        }
    }

    /// Sets the time of a file to that of Last-Modified, in seconds since 1970 (`-R`); returns a warning if that fails.
    static func setTime(of path: String, _ seconds: Int64) -> String? {
        let time = timeval(tv_sec: Int(seconds), tv_usec: 0)
        if utimes(path, [time, time]) == 0 { return nil }
        return "Failed to set filetime \(seconds) on '\(path)': \(SystemError.reason(of: errno))"
    }
}

extension CurlOutputFile {
    /// The descriptor, without the path.
    consuming func take() -> FileDescriptor { descriptor }
}
