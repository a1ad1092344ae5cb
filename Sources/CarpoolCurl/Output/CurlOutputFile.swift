internal import CarpoolExchange
internal import CarpoolSystem
internal import Glibc

/// A file that a response is written to, in place. It has the mode 0666 without the bits of the umask, as curl's;
/// `--create-file-mode` is for other protocols.
enum CurlOutputFile {
    private static let folderMode: mode_t = 0o750

    /// How it is opened by `--clobber` and `--no-clobber`. The name of a Content-Disposition (`-J`) overwrites no file
    /// by default.
    static func opening(clobbers: Bool?, isDisposition: Bool) -> BodyOutput.Opening {
        switch clobbers {
        case true: .truncating
        case false: .numbered
        default: isDisposition ? .new : .truncating
        }
    }

    /// Opens a file for writing. A pipe without a reader within the limit of `-m` is a timeout.
    static func open(_ path: String, _ opening: BodyOutput.Opening) throws(CurlError) -> BodyOutput {
        do throws(SystemError) {
            return try BodyOutput(path, opening)
        } catch {
            throw failure(error, path)
        }
    }

    private static func failure(_ error: SystemError, _ path: String) -> CurlError {
        guard error.code != ETIME else { return CurlError(CurlExitCode.timedOut) }
        return CurlError(
            exitCode: CurlExitCode.writeError, message: CurlErrorText.of(CurlExitCode.writeError),
            warnings: ["Failed to open the file \(path): \(error.reason)"])
    }

    /// Makes the folders of a path that do not exist (`--create-dirs`), with the mode 0750.
    static func createFolders(of path: String) throws(CurlError) {
        // A link that may not be followed to the file leads to no folder either.
        do throws(SystemError) { _ = try Folder.resolve(SocketLocation.absolute(path)) } catch {
            if error.code == EACCES { throw failure(error, path) }
        }
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

    /// Sets the time of an open file to that of Last-Modified, in seconds since 1970 (`-R`); returns a warning if that
    /// fails.
    static func setTime(of path: String, _ file: BodyOutput, _ seconds: Int64) -> String? {
        let time = timespec(tv_sec: Int(seconds), tv_nsec: 0)
        if futimens(file.descriptor, [time, time]) == 0 { return nil }
        return "Failed to set filetime \(seconds) on '\(path)': \(SystemError.reason(of: errno))"
    }
}
