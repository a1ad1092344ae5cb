internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// The files of options that only the caller can open: its descriptors, such as `/dev/fd/5`, pipes and devices. Their
/// content is sent; the daemon opens all other files itself.
package enum CallerFile {
    /// The most that the daemon takes of certificates and keys.
    private static let maximumBytes = 1_048_576

    /// Whether the caller has to read a file.
    package static func isNeeded(for path: String?) -> Bool {
        guard let path else { return false }
        if RegularFile.leadsToProcess(path) { return true }
        var info = stat()
        guard SystemPath.withBytes(path, { stat($0, &info) }) == 0 else { return false }
        return info.st_mode & S_IFMT != S_IFREG && info.st_mode & S_IFMT != S_IFDIR
    }

    /// The text of a file in PEM.
    static func text(_ path: String, of option: StaticString) throws(Failure) -> String {
        guard let text = String(validating: try bytes(path, of: option), as: UTF8.self) else {
            throw Failure(.usage, "\(option): \(path) is not PEM, which is text")
        }
        return text
    }

    /// The content of a file in Base64.
    static func base64(_ path: String, of option: StaticString) throws(Failure) -> String {
        var encoded: [UInt8] = []
        try bytes(path, of: option).withUnsafeBytes { Base64.encode($0, into: &encoded) }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static func bytes(_ path: String, of option: StaticString) throws(Failure) -> [UInt8] {
        do throws(SystemError) {
            return try NamedPath.read(path, atMost: maximumBytes)
        } catch {
            throw Failure(error.exitCode(or: .usage), "\(option): cannot read the file: \(error)")
        }
    }
}
