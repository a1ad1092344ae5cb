import CarpoolSystem
import Glibc
import Testing

/// A folder that is deleted after the test.
final class TemporaryFolder {
    let path: String
    private var made: [String] = []

    init() throws {
        var template = Array("/tmp/reachability-XXXXXX".utf8CString)
        path = try template.withUnsafeMutableBufferPointer { buffer in
            try #require(buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) })
        }
    }

    func write(_ name: String, _ text: String) throws {
        let fd = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        let file = FileDescriptor(owning: fd)
        made.append(name)
        try Array(text.utf8).withUnsafeBytes { try Bytes.writeAll(file.raw, $0) }
    }

    func makeFolder(_ name: String) {
        mkdir("\(path)/\(name)", 0o700)
        made.append(name)
    }

    func link(_ name: String, to target: String) {
        symlink(target, "\(path)/\(name)")
        made.append(name)
    }

    func remove() {
        for name in made.reversed() where unlink("\(path)/\(name)") != 0 { rmdir("\(path)/\(name)") }
        rmdir(path)
    }
}
