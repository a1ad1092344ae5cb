/// The partial files that requests have, by their places: a request that goes on with one waits until the one before has closed it.
final class PartialFileTable {
    private struct Weak {
        weak var file: PartialFile?
    }

    private var files: [String: Weak] = [:]

    /// Notes a file.
    func add(_ file: PartialFile, at place: String) { files[place] = Weak(file: file) }

    /// Forgets a file that is gone.
    func removeGone(at place: String) {
        if files[place]?.file == nil { files[place] = nil }
    }

    /// Calls the body when a file at a place that its request has no more use for is closed: now, if there is none.
    func whenLeft(_ place: String, _ body: @escaping () -> Void) {
        guard let file = files[place]?.file, file.isLeft else { return body() }
        file.whenLeft(body)
    }
}
