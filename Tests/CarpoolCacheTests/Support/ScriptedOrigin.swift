import CarpoolCache
import CarpoolHTTP
import CarpoolSystem

@testable import CarpoolSystem

/// The origin behind a ``CachingTransport``, without a network: each task waits until the test answers it.
final class ScriptedOrigin: Transport {
    var connectionObserver: (any ConnectionObserver)?
    /// Every task so far, in order.
    private(set) var tasks: [OriginTask] = []
    var statistics: PoolStatistics { PoolStatistics() }

    func start(_ request: TransportRequest, delegate: any TransferDelegate) -> any TransportTask {
        let task = OriginTask(id: tasks.count + 1, request: request, delegate: delegate)
        tasks.append(task)
        return task
    }

    func closeIdleConnections() -> Int { 0 }
}

/// A task of a ``ScriptedOrigin``.
final class OriginTask: TransportTask {
    let id: Int
    let request: TransportRequest
    private let delegate: any TransferDelegate
    var bodyPosition: Int64 = 0
    private(set) var isCancelled = false
    private(set) var isPaused = false
    private(set) var hasEnded = false
    private(set) var priority: TransferPriority?
    private(set) var idleMilliseconds: Int
    private(set) var resourceEnd: MonotonicTime

    init(id: Int, request: TransportRequest, delegate: any TransferDelegate) {
        self.id = id
        self.request = request
        self.delegate = delegate
        idleMilliseconds = request.idleTimeoutMilliseconds
        resourceEnd = request.resourceEnd(startedAt: .read())
    }

    func cancel() { isCancelled = true }
    func pause() { isPaused = true }
    func resume() { isPaused = false }
    func setPriority(_ priority: TransferPriority) { self.priority = priority }

    func extendTimeouts(idleMilliseconds: Int, resourceEnd: MonotonicTime) {
        self.idleMilliseconds = max(self.idleMilliseconds, idleMilliseconds)
        self.resourceEnd = max(self.resourceEnd, resourceEnd)
    }

    /// Delivers the head of a response.
    func head(_ status: Int = 200, _ fields: [String: String] = ["cache-control": "max-age=60"]) {
        delegate.transferDidStart(self)
        var block = FieldBlock()
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) { block.append(name: name, value: value) }
        delegate.transfer(self, didReceive: ResponseHead(status: status, httpVersion: "http/1.1", fields: block))
    }

    /// Delivers a piece of the body, as the engine does it: one that is not accepted comes again.
    @discardableResult func body(_ text: String) -> BodyDisposition { body(Array(text.utf8)) }

    @discardableResult func body(_ bytes: [UInt8]) -> BodyDisposition {
        let answer = bytes.withUnsafeBytes { delegate.transfer(self, didReceive: $0) }
        if case .pause = answer { isPaused = true }
        return answer
    }

    /// Ends the task.
    func end(_ error: TransportError? = nil) {
        guard !hasEnded else { return }
        hasEnded = true
        var metrics = TransferMetrics()
        metrics.connection = id
        delegate.transferDidComplete(self, TransferCompletion(error: error, metrics: metrics))
    }

    /// Ends a task that was cancelled.
    func endCancelled() { end(TransportError(.cancelled, "the transfer was cancelled")) }

    /// Delivers a complete response.
    func respond(_ status: Int = 200, _ fields: [String: String] = ["cache-control": "max-age=60"], body text: String) {
        head(status, fields)
        if !text.isEmpty { body(text) }
        end()
    }
}
