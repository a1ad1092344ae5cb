internal import CarpoolSystem
internal import Glibc

/// The files that options name.
enum CurlOptionFile {
    /// The maximum size of a file, and of a line as in curl.
    private static let maximumBytes = 10 * 1_024 * 1_024

    /// Fails if a file cannot be read, as curl does when it reads the option.
    static func checkReadable(_ path: String) throws(CurlError) {
        guard path != "-", access(path, R_OK) != 0 else { return }
        throw CurlValueError.unreadable("Failed to open \(path)")
    }

    /// The bytes of a file; what cannot be read again is kept for the real curl. The error of one that cannot be read
    /// says why if curl does.
    static func bytes(
        _ path: String, _ consumed: inout [CurlConsumedInput], saysReason: Bool = false
    ) throws(CurlError) -> [UInt8] {
        guard let bytes = try? CurlFile.read(path, standardInput: STDIN_FILENO, atMost: maximumBytes) else {
            let reason = saysReason ? ": \(CurlFile.reason(path))" : ""
            throw CurlValueError.unreadable("Failed to open \(path)\(reason)")
        }
        if let descriptor = descriptor(of: path) {
            consumed.append(CurlConsumedInput(descriptor: descriptor, bytes: bytes))
        }
        return bytes
    }

    /// The descriptor that a path stands for.
    private static func descriptor(of path: String) -> Int32? {
        if path == "-" || path == "/dev/stdin" { return STDIN_FILENO }
        for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
            return Int32(path.dropFirst(folder.utf8.count))
        }
        return nil
    }
}
