import Glibc

/// A directory that goes, with all that is in it, when the test ends.
final class TemporaryDirectory {
    let path: String

    init() {
        var template = Array("/tmp/carpool-test-XXXXXX".utf8CString)
        path = mkdtemp(&template).map { String(cString: $0) } ?? "/nonexistent"
        // Another test may just be binding a socket, and with it have changed the umask.
        chmod(path, 0o700)
    }

    func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    deinit { TemporaryDirectory.remove(path) }

    private static func remove(_ path: String) {
        if let directory = opendir(path) {
            while let entry = readdir(directory) {
                let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                guard name != ".", name != ".." else { continue }
                var info = stat()
                guard lstat("\(path)/\(name)", &info) == 0 else { continue }
                if info.st_mode & S_IFMT == S_IFDIR { remove("\(path)/\(name)") } else { unlink("\(path)/\(name)") }
            }
            closedir(directory)
        }
        rmdir(path)
    }
}

/// The permission bits of a path; `nil` if there is nothing.
func mode(of path: String) -> UInt32? {
    var info = stat()
    return lstat(path, &info) == 0 ? info.st_mode & 0o7777 : nil
}
