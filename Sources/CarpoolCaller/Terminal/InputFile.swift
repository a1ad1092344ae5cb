package import CarpoolSystem

/// Reads files that options name; `-` is standard input.
package enum InputFile {
    /// The bytes of a file, or what standard input still has; EFBIG if it has more than `limit` bytes. Files are those
    /// of ``NamedPath``, with its errors.
    package static func read(
        _ path: String, atMost limit: Int, standardInput: Int32 = 0
    ) throws(SystemError) -> [UInt8] {
        guard path != "-" else { return try Bytes.readAll(standardInput, atMost: limit, path: name(of: path)) }
        return try NamedPath.read(path, atMost: limit)
    }

    /// Whether a path stands for standard input.
    package static func isStandardInput(_ path: String) -> Bool {
        ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].contains(path)
    }

    /// The name of a file in messages.
    package static func name(of path: String) -> String { path == "-" ? "standard input" : path }
}
