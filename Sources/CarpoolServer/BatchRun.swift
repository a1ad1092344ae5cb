internal import CarpoolRPC
internal import CarpoolSystem

/// The messages of one batch, handled one after the other: a slice is one message.
final class BatchRun: SlicedWork {
    private var messages: ArraySlice<RPCMessage>
    private let batch: Batch
    private let handle: (RPCMessage, Batch) -> Void

    init(_ messages: [RPCMessage], batch: Batch, handle: @escaping (RPCMessage, Batch) -> Void) {
        self.messages = messages[...]
        self.batch = batch
        self.handle = handle
    }

    func runSlice() -> Bool {
        if let message = messages.popFirst() { handle(message, batch) }
        guard messages.isEmpty else { return true }
        batch.close()
        return false
    }
}
