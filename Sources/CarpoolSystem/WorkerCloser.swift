internal import Glibc

/// Closes descriptors on a ``Worker``, from any thread; after the worker's end, where it is called.
public struct WorkerCloser: Sendable {
    let loop: EventLoop
    let link: WorkerLink

    /// Closes a descriptor on the worker. One that this process has opened itself does not count: files that are
    /// opened by name have limits of their own.
    func close(_ descriptor: consuming FileDescriptor, for share: WorkerShare, isPassed: Bool) {
        let pending = PendingClose(descriptor.release())
        loop.post { [link] in
            guard let worker = link.worker else { return }
            worker.runClosing(isPassed ? 1 : 0, for: share, { pending.close() }, then: {})
        }
    }

    /// Removes a file of this process on the worker.
    public func remove(_ path: String) {
        loop.post { [link] in
            guard let worker = link.worker else { return }
            worker.runAlways(for: .process, { _ = unlink(path) }, then: {})
        }
    }
}

/// A descriptor that is closed by a job, or with this object if the job never runs.
///
/// `@unchecked Sendable` because one thread at a time has it: the poster, then the loop, then the job.
private final class PendingClose: @unchecked Sendable {
    private var raw: Int32?

    init(_ raw: Int32) { self.raw = raw }

    func close() {
        if let raw { _ = FileDescriptor(owning: raw) }
        raw = nil
    }

    deinit { close() }
}
