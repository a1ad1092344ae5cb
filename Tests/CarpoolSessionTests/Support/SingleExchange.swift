import CarpoolHTTP
import CarpoolSystem

/// Sends one request with the real transport and waits for its end.
final class SingleExchange: TransferDelegate {
    private let loop: EventLoop
    private(set) var error: TransportError?

    private init(_ loop: EventLoop) { self.loop = loop }

    /// Blocks until the response is there.
    static func run(_ request: TransportRequest) throws {
        let loop = try EventLoop()
        let transport = try CurlTransport(loop: loop)
        let exchange = SingleExchange(loop)
        _ = transport.start(request, delegate: exchange)
        loop.run()
        if let error = exchange.error { throw error }
    }

    func transferDidStart(_ transfer: any TransportTask) {}
    func transfer(_ transfer: any TransportTask, didReceive head: ResponseHead) {}
    func transfer(_ transfer: any TransportTask, didReceive bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        .accept
    }
    func transfer(_ transfer: any TransportTask, didSendBodyBytes count: Int) {}
    func transferDidComplete(_ transfer: any TransportTask, _ completion: TransferCompletion) {
        error = completion.error
        loop.stop()
    }
}
