public import CarpoolSystem
internal import Glibc

/// What was found at the place of a partial file: the file, opened and locked, or why it cannot be had.
///
/// `@unchecked Sendable` because one thread at a time has it: the one that opens the file, then the loop, then the one that closes it.
public final class PartialFileOpening: @unchecked Sendable {
    private var opened: OpenedPartial?
    private let error: SystemError

    /// Opens and locks the file. May block. What is not taken must be released.
    public init(_ place: String) {
        do throws(SystemError) {
            opened = try OpenedPartial(at: place)
            // For a second request to take it: the first one has it.
            error = SystemError(code: EWOULDBLOCK, operation: "open", subject: place)
        } catch let failure {
            error = failure
        }
    }

    /// Has the file closed in the background, unless it was taken.
    public func release(to store: FileStore, for share: WorkerShare) {
        guard opened != nil else { return }
        store.runAlways(for: share, { [self] in opened = nil }, then: {})
    }

    /// Hands the file over, once.
    func take() throws(SystemError) -> OpenedPartial {
        guard let taken = opened.take() else { throw error }
        return taken
    }
}

extension FileStore {
    /// Calls the body when the request that is over has closed the partial file at a place: now, if none has one there.
    public func whenPartialFileIsLeft(_ place: String, _ body: @escaping () -> Void) { partials.whenLeft(place, body) }
}
