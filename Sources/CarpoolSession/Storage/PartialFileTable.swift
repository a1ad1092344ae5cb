/// The open partial files by path: a request that resumes one waits until the previous request has closed it.
final class PartialFileTable {
    private struct Weak {
        weak var file: PartialFile?
    }

    private var files: [String: Weak] = [:]

    /// Adds a file.
    func add(_ file: PartialFile, at path: String) { files[path] = Weak(file: file) }

    /// Removes the entry of a file that was freed.
    func removeFreed(at path: String) {
        if files[path]?.file == nil { files[path] = nil }
    }

    /// Calls the body when the file at a path is closed: now, if there is none, or its request still writes it.
    func whenClosed(_ path: String, _ body: @escaping () -> Void) {
        guard let file = files[path]?.file, file.isReleased else { return body() }
        file.whenClosed(body)
    }
}
