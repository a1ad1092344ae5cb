internal import CarpoolSystem

/// The transfer as a task. The transport carries out each request when the turn of the loop ends, because libcurl
/// must not be called from its own callbacks.
extension CurlTransfer: TransportTask {
    func cancel() { transport.cancel(self) }
    func pause() { transport.pause(self) }
    func resume() { transport.resume(self) }
    func extendTimeouts(idleMilliseconds: Int, resourceEnd: MonotonicTime) {
        deadlines.extend(idleMilliseconds: idleMilliseconds, resource: resourceEnd)
    }

    func setPriority(_ priority: TransferPriority) { transport.setPriority(priority, of: self) }
}
