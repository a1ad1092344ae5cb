internal import CarpoolCaller
internal import CarpoolSystem
internal import Glibc

/// Reads files that options name; `-` is standard input.
package enum CurlFile {
    /// The maximum of what is kept in memory: 1 GiB. curl takes 16 GiB and more; a larger body is sent with `-T`, which
    /// keeps nothing in memory.
    static let maximumBytes = 1_073_741_824

    /// The bytes of a file, or the rest of standard input.
    static func read(
        _ path: String, standardInput: Int32, atMost limit: Int = maximumBytes
    ) throws(CurlError) -> [UInt8] {
        do throws(SystemError) {
            return try InputFile.read(path, atMost: limit, standardInput: standardInput)
        } catch {
            guard error.code != ETIME else { throw CurlError(CurlExitCode.timedOut) }
            if error.code == EFBIG {
                throw CurlError(
                    exitCode: CurlExitCode.readError,
                    message: "\(path) is larger than \(limit) bytes: send it with -T", form: .plain)
            }
            throw CurlError.unreadable(path)
        }
    }

    /// The bytes of a file without CR, LF and NUL, as curl reads text.
    package static func readText(
        _ path: String, standardInput: Int32, atMost limit: Int = maximumBytes
    ) throws(CurlError) -> [UInt8] {
        try read(path, standardInput: standardInput, atMost: limit).filter { $0 != 0 && $0 != 10 && $0 != 13 }
    }

    /// Why a file cannot be opened.
    package static func reason(_ path: String) -> String {
        do throws(SystemError) {
            _ = try NamedPath.open(path, O_RDONLY)
            return "Is not readable"
        } catch {
            return error.reason
        }
    }
}
