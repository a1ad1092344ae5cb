@testable import CarpoolHTTP
import CarpoolSystem

/// A transport that does what a test tells it: each transfer that it is asked for waits until the test answers it.
final class ScriptedTransport: Transport {
    var connectionObserver: (any ConnectionObserver)?
    /// Every transfer so far, in order.
    private(set) var transfers: [Transfer] = []
    /// Transfers that the session wants to end, in order.
    private(set) var cancelled: [Int] = []
    /// Transfers whose idle time was stopped, and those that were told to go on, in order.
    private(set) var stopped: [Int] = []
    private(set) var resumed: [Int] = []
    private var ended: Set<Int> = []
    /// Makes the handles of transfers; it never sends one.
    private let maker: CurlTransport

    init() throws { maker = try CurlTransport(loop: EventLoop()) }

    /// What was asked for, in order.
    var requests: [TransportRequest] { transfers.map(\.request) }

    /// How many transfers have not ended.
    var running: Int { transfers.count - ended.count }

    func start(_ request: TransportRequest, delegate: any TransferDelegate) -> Transfer {
        let transfer = Transfer(id: transfers.count + 1, request: request, delegate: delegate, transport: maker)
        transfers.append(transfer)
        return transfer
    }

    func cancel(_ transfer: Transfer) {
        if !ended.contains(transfer.id) { cancelled.append(transfer.id) }
    }

    func holdUp(_ transfer: Transfer) { stopped.append(transfer.id) }
    func resumeReceiving(_ transfer: Transfer) { resumed.append(transfer.id) }
    func closeIdleConnections() -> Int { 0 }
    var statistics: PoolStatistics { PoolStatistics() }

    // MARK: What the test tells it, always about the last transfer

    /// Gives the transfer to the network.
    func begin() {
        guard let last = transfers.last else { return }
        last.delegate?.transferDidStart(last)
    }

    /// Gives the head of a response.
    func receive(_ status: Int, _ fields: [(String, String)] = []) {
        guard let last = transfers.last else { return }
        last.delegate?.transfer(last, didReceive: .make(status, fields))
    }

    /// Gives a piece of the body.
    @discardableResult func receive(_ bytes: [UInt8]) -> BodyDisposition? {
        guard let last = transfers.last else { return nil }
        return bytes.withUnsafeBytes { last.delegate?.transfer(last, didReceive: $0) }
    }

    /// Ends the transfer after so many microseconds.
    func complete(_ error: TransportError? = nil, microseconds: Int = 1_000, wasSent: Bool = false) {
        guard let last = transfers.last, ended.insert(last.id).inserted else { return }
        var metrics = TransferMetrics()
        metrics.endMicroseconds = microseconds
        metrics.connection = last.id
        if wasSent { metrics.requestMicroseconds = microseconds }
        last.delegate?.transferDidComplete(last, TransferCompletion(error: error, metrics: metrics))
    }

    /// Ends the transfer as the real one ends those that were cancelled.
    func completeCancelled() { complete(TransportError(.cancelled, "the transfer was cancelled")) }

    /// A whole response.
    func respond(_ status: Int, _ fields: [(String, String)] = [], body: String = "") {
        receive(status, fields)
        if !body.isEmpty { receive(Array(body.utf8)) }
        complete()
    }

    /// Tells that bytes of the request's body were sent.
    func send(_ count: Int) {
        guard let last = transfers.last else { return }
        last.bodyPosition += Int64(count)
        last.delegate?.transfer(last, didSendBodyBytes: count)
    }
}

extension ResponseHead {
    static func make(_ status: Int, _ fields: [(String, String)] = []) -> ResponseHead {
        var block = FieldBlock()
        for (name, value) in fields {
            _ = Array("\(name): \(value)".utf8).withUnsafeBytes { block.append(line: $0) }
        }
        return ResponseHead(status: status, httpVersion: "http/1.1", fields: block)
    }
}
