public import CarpoolSystem
internal import Glibc

/// The result of opening a partial file: the file, opened and locked, or the error.
///
/// `@unchecked Sendable` because one thread at a time uses it: the one that opens the file, then the loop, then the one
/// that closes it.
public final class PartialFileOpening: @unchecked Sendable {
    private var opened: OpenedPartial?
    private let error: SystemError

    /// Opens and locks the file. May block. A file that is not taken must be released.
    public init(_ path: String) {
        do throws(SystemError) {
            opened = try OpenedPartial(at: path)
            // For a second request that takes it: the first one has it.
            error = SystemError(code: EWOULDBLOCK, operation: "open", subject: path)
        } catch let failure {
            error = failure
        }
    }

    /// Closes the file in the background, unless it was taken.
    public func release(to store: FileStore, for share: WorkerShare) {
        guard opened != nil else { return }
        store.runAlways(for: share, { [self] in opened = nil }, then: {})
    }

    /// Hands over the file, once.
    func take() throws(SystemError) -> OpenedPartial {
        guard let taken = opened.take() else { throw error }
        return taken
    }
}

extension FileStore {
    /// Calls the body when the request that is over has closed the partial file at a path: now, if none is open there.
    public func whenPartialFileIsClosed(_ path: String, _ body: @escaping () -> Void) {
        partials.whenClosed(path, body)
    }
}
