public import CarpoolSystem
internal import Glibc

/// The result of opening a partial file: the file, opened and locked, or the error.
///
/// `@unchecked Sendable` because one thread at a time uses it: the one that opens the file, then the loop, then the one
/// that closes it.
public final class PartialFileOpening: @unchecked Sendable {
    private var opened: OpenedPartial?
    private var error: SystemError
    /// Whether the file is what its token says, once it is read.
    private(set) var fit = PartialFit.lost
    /// Whether ``readOn()`` has to go on before that is known.
    public private(set) var isUnread = false

    /// Opens and locks the file, and begins to compare it with its token. May block. A file that is not taken must be
    /// released.
    public init(_ claim: PartialClaim) {
        // For a second request that takes it: the first one has it.
        error = SystemError(code: EWOULDBLOCK, operation: "open", subject: claim.path)
        do throws(SystemError) {
            var file = try OpenedPartial(at: claim.path)
            try file.compare(with: claim)
            keep(file)
        } catch let failure {
            error = failure
        }
    }

    /// Reads more of the file, to compare it with its token. May block.
    public func readOn() {
        guard var file = opened.take() else { return }
        isUnread = false
        do throws(SystemError) {
            try file.readOn()
            keep(file)
        } catch let failure {
            error = failure
        }
    }

    private func keep(_ file: consuming OpenedPartial) {
        isUnread = file.fit == nil
        fit = file.fit ?? .lost
        opened = consume file
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
