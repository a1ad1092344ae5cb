/// The open partial files by path: a request that resumes one waits until the previous request has closed it.
final class PartialFileTable {
    private struct Weak {
        weak var file: PartialFile?
    }

    private var files: [String: Weak] = [:]

    /// Adds a file.
    func add(_ file: PartialFile, at place: String) { files[place] = Weak(file: file) }

    /// Removes the entry of a file that was freed.
    func removeGone(at place: String) {
        if files[place]?.file == nil { files[place] = nil }
    }

    /// Calls the body when the file at a path, which its request is done with, is closed: now, if there is none.
    func whenLeft(_ place: String, _ body: @escaping () -> Void) {
        guard let file = files[place]?.file, file.isLeft else { return body() }
        file.whenLeft(body)
    }
}
