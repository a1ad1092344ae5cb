@testable import CarpoolHTTP

/// A transport without a network: each task waits until the test answers it.
final class ScriptedTransport: Transport {
    var connectionObserver: (any ConnectionObserver)?
    /// Every task so far, in order.
    private(set) var transfers: [ScriptedTask] = []
    /// The numbers of the tasks that were cancelled, paused (stopped) and resumed, in order.
    fileprivate(set) var cancelled: [Int] = []
    fileprivate(set) var stopped: [Int] = []
    fileprivate(set) var resumed: [Int] = []
    fileprivate var ended: Set<Int> = []

    /// The requests of the tasks, in order.
    var requests: [TransportRequest] { transfers.map(\.request) }

    /// How many transfers have not ended.
    var running: Int { transfers.count - ended.count }

    func start(_ request: TransportRequest, delegate: any TransferDelegate) -> any TransportTask {
        let task = ScriptedTask(id: transfers.count + 1, request: request, delegate: delegate, transport: self)
        transfers.append(task)
        return task
    }

    func closeIdleConnections() -> Int { 0 }
    var statistics: PoolStatistics { PoolStatistics() }

    // MARK: What the test does, always to the last task

    /// Starts the transfer on the network.
    func begin() {
        guard let last = transfers.last else { return }
        last.delegate?.transferDidStart(last)
    }

    /// Delivers the head of a response.
    func receive(_ status: Int, _ fields: [(String, String)] = []) {
        guard let last = transfers.last else { return }
        last.delegate?.transfer(last, didReceive: .make(status, fields))
    }

    /// Delivers a piece of the body.
    @discardableResult func receive(_ bytes: [UInt8]) -> BodyDisposition? {
        guard let last = transfers.last else { return nil }
        return bytes.withUnsafeBytes { last.delegate?.transfer(last, didReceive: $0) }
    }

    /// Ends the transfer after this many microseconds.
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

    /// Delivers a complete response.
    func respond(_ status: Int, _ fields: [(String, String)] = [], body: String = "") {
        receive(status, fields)
        if !body.isEmpty { receive(Array(body.utf8)) }
        complete()
    }

    /// Reports that bytes of the request's body were sent.
    func send(_ count: Int) {
        guard let last = transfers.last else { return }
        last.bodyPosition += Int64(count)
        last.delegate?.transfer(last, didSendBodyBytes: count)
    }
}

/// A task of a ``ScriptedTransport``.
final class ScriptedTask: TransportTask {
    let id: Int
    let request: TransportRequest
    fileprivate(set) var bodyPosition: Int64 = 0
    /// The priority that was set after its start.
    private(set) var priority: TransferPriority?
    let delegate: (any TransferDelegate)?
    private weak var transport: ScriptedTransport?

    fileprivate init(
        id: Int, request: TransportRequest, delegate: any TransferDelegate, transport: ScriptedTransport
    ) {
        self.id = id
        self.request = request
        self.delegate = delegate
        self.transport = transport
    }

    func cancel() {
        guard let transport, !transport.ended.contains(id) else { return }
        transport.cancelled.append(id)
    }

    func pause() { transport?.stopped.append(id) }
    func resume() { transport?.resumed.append(id) }
    func setPriority(_ priority: TransferPriority) { self.priority = priority }
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
