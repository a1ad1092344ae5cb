import Glibc

/// A folder that is deleted with its content when the test ends.
final class TemporaryFolder {
    let path: String

    init() {
        var template = Array("/tmp/carpool-server-test-XXXXXX".utf8CString)
        path = mkdtemp(&template).map { String(cString: $0) } ?? "/nonexistent"
    }

    func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file and returns its path.
    @discardableResult func write(_ name: String, _ text: String) -> String {
        let file = open(self(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        var text = text
        text.withUTF8 { _ = Glibc.write(file, $0.baseAddress, $0.count) }
        close(file)
        return self(name)
    }

    /// The names in a folder of it, sorted.
    func names(in folder: String) -> [String] {
        guard let directory = opendir(self(folder)) else { return [] }
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

    private func remove(_ folder: String) {
        for name in names(in: folder) {
            let inner = folder.isEmpty ? name : "\(folder)/\(name)"
            if unlink(self(inner)) != 0 { remove(inner) }
        }
        rmdir(folder.isEmpty ? path : self(folder))
    }

    deinit { remove("") }
}
