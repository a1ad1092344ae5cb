/// A transfer as its owner sees it. The transport carries out what is asked for when the turn of the loop ends:
/// libcurl must not be called from its own callbacks.
extension CurlTransfer: TransportTask {
    func cancel() { transport.cancel(self) }
    func pause() { transport.pause(self) }
    func resume() { transport.resume(self) }
    func setPriority(_ priority: TransferPriority) { transport.setPriority(priority, of: self) }
}
