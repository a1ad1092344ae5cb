import CarpoolHTTP

/// A caller of a ``CachingTransport``: what it was given, in order.
final class Caller: TransferDelegate {
    private(set) var heads: [ResponseHead] = []
    private(set) var bytes: [UInt8] = []
    private(set) var completion: TransferCompletion?
    private(set) var proposals = 0
    /// What it answers to pieces.
    var answer = BodyDisposition.accept
    /// What it decides about storing.
    var decide: (CacheProposal) -> Void = { $0.decide(.store) }
    var task: (any TransportTask)?

    var text: String { String(decoding: bytes, as: UTF8.self) }
    var status: Int? { heads.last?.status }
    var outcome: CacheOutcome? { completion?.metrics.cache }
    var hasEnded: Bool { completion != nil }
    /// Whether it has a complete response.
    var isWhole: Bool { completion.map { $0.error == nil } ?? false }

    func transferDidStart(_ transfer: any TransportTask) {}
    func transfer(_ transfer: any TransportTask, didReceive head: ResponseHead) { heads.append(head) }
    func transfer(_ transfer: any TransportTask, didReceive piece: UnsafeRawBufferPointer) -> BodyDisposition {
        if case .accept = answer { bytes.append(contentsOf: piece) }
        return answer
    }
    func transfer(_ transfer: any TransportTask, didSendBodyBytes count: Int) {}
    func transfer(_ transfer: any TransportTask, proposesToStore proposal: CacheProposal) {
        proposals += 1
        decide(proposal)
    }
    func transferDidComplete(_ transfer: any TransportTask, _ completion: TransferCompletion) {
        self.completion = completion
    }

    /// Goes on after a pause.
    func resume() {
        answer = .accept
        task?.resume()
    }
}
