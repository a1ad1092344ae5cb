package import CarpoolSystem
internal import Glibc

/// Reads files that options name; `-` is standard input.
package enum InputFile {
    /// The bytes of a file, or what standard input still has; EFBIG if it has more than `limit` bytes.
    package static func read(
        _ path: String, atMost limit: Int, standardInput: Int32 = 0
    ) throws(SystemError) -> [UInt8] {
        guard path != "-" else { return try Bytes.readAll(standardInput, atMost: limit, path: name(of: path)) }
        let file = try FileDescriptor.open(path, O_RDONLY)
        return try Bytes.readAll(file.raw, atMost: limit, path: path)
    }

    /// Whether a path stands for standard input.
    package static func isStandardInput(_ path: String) -> Bool {
        ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].contains(path)
    }

    /// The name of a file in messages.
    package static func name(of path: String) -> String { path == "-" ? "standard input" : path }
}
