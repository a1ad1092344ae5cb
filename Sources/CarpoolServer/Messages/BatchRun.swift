internal import CarpoolRPC
internal import CarpoolSystem

/// The messages of one batch, handled one after the other: a slice is one message.
final class BatchRun: SlicedWork {
    private let messages: RPCBatch
    private var next = 0
    private let batch: Batch
    private let handle: (MessageText, Batch) -> Void

    init(_ messages: RPCBatch, batch: Batch, handle: @escaping (MessageText, Batch) -> Void) {
        self.messages = messages
        self.batch = batch
        self.handle = handle
    }

    func runSlice() -> Bool {
        guard next < messages.count else {
            // In a slice of its own: the last message may have been read by a thread meanwhile.
            batch.close()
            return false
        }
        next += 1
        handle(messages.text(at: next - 1), batch)
        return true
    }
}
