import Glibc

/// A folder of downloads that is deleted when the test ends.
final class DownloadFolder {
    let path: String

    init() {
        var template = Array("/tmp/carpool-downloads-XXXXXX".utf8CString)
        path = mkdtemp(&template).map { String(cString: $0) } ?? "/nonexistent"
    }

    func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    /// The names in it, sorted.
    var names: [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// The text of a file; `nil` if it is not there.
    func text(_ name: String) -> String? {
        let file = open(self(name), O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(file, &buffer, buffer.count)
        return String(decoding: buffer[..<max(0, count)], as: UTF8.self)
    }

    /// Writes a file.
    func write(_ name: String, _ text: String) {
        let file = open(self(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        _ = Array(text.utf8).withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        close(file)
    }

    deinit {
        for name in names { unlink(self(name)) }
        rmdir(path)
    }
}
