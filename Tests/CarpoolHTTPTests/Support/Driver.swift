import CarpoolHTTP
import CarpoolSystem
import Glibc
import Synchronization

/// The description of a request in a test; made into a real one on the loop's thread.
struct Ask: Sendable {
    var method = "GET"
    var url: String
    var fields: [(String, String)] = []
    var body: [UInt8]?
    /// Called on the loop's thread each time when half of the body was read.
    var onHalf: (@Sendable () -> Void)?
    var file: (path: String, offset: Int64, length: Int64)?
    var trust: ServerTrust = .system
    var certificate: ClientCertificate?
    var user: UInt32?
    var version: HTTPVersionPolicy = .automatic
    var idle = 10_000
    var connect = 10_000
    var resource = 20_000
    var decodes = true
    var ratio = 200
    var isLong = false
    var needsFreshConnection = false
    /// Whether the outcome has the body; only its length is counted otherwise.
    var keepsBody = true
    /// What the delegate answers to the pieces of the body.
    var disposition: Disposition = .accept
    /// When the test wants the transfer cancelled.
    var cancel: CancelMoment?

    enum Disposition: Sendable {
        case accept
        case pauseOnce
        /// Three times, so that the peer has time to continue, at the piece that reaches this many bytes.
        case pauseAt(Int)
        case pauseForEver
        case stop
    }

    enum CancelMoment: Sendable, CaseIterable {
        case beforeTurn, atStart, atHead, atBody, whilePaused, afterEnd
    }

    init(_ url: String) { self.url = url }
}

/// The outcome of a request.
struct Outcome: Sendable {
    var status = 0
    var version = ""
    var fields: [(String, String)] = []
    var body: [UInt8] = []
    var length = 0
    var error: TransportError?
    var metrics = TransferMetrics()
    var heads = 0
    var starts = 0
    var completions = 0
    var sentBodyBytes = 0
    var pauses = 0

    var text: String { String(decoding: body, as: UTF8.self) }
    func field(_ name: String) -> String? { fields.first { $0.0.lowercased() == name }?.1 }
}

/// A transport on a loop of its own thread, and an actor of that loop to call it.
actor Driver {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var transport: CurlTransport?
    private var recorders: [Recorder] = []
    private let connectionLog = ConnectionLog()
    private let meter: TurnMeter

    init(_ configuration: TransportConfiguration = TransportConfiguration()) async throws {
        loop = try await withCheckedThrowingContinuation { continuation in
            startThread {
                do {
                    let loop = try EventLoop()
                    continuation.resume(returning: loop)
                    loop.run()
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
        meter = TurnMeter(loop)
        transport = try makeTransport(configuration)
    }

    private func makeTransport(_ configuration: TransportConfiguration) throws -> CurlTransport {
        let transport = try CurlTransport(loop: loop, configuration: configuration)
        transport.connectionObserver = connectionLog
        return transport
    }

    /// Looks at the transport, on its loop.
    func look<Value: Sendable>(_ body: @Sendable (CurlTransport) -> Value) -> Value? { transport.map(body) }

    /// Releases the transport; no transfer may be running.
    func dropTransport() {
        transport = nil
        recorders = []
    }

    /// Releases the delegates of transfers that have ended.
    func forget() { recorders = [] }

    /// Releases everything and ends the loop.
    func end() {
        dropTransport()
        loop.stop()
    }

    var statistics: PoolStatistics { transport?.statistics ?? PoolStatistics() }
    var origins: [OriginStatistics] { transport?.origins(of: .all, after: 0, atMost: .max) ?? [] }
    func origins(of users: PoolUsers, after number: Int, atMost count: Int) -> [OriginStatistics] {
        transport?.origins(of: users, after: number, atMost: count) ?? []
    }
    func load(of users: PoolUsers) -> PoolLoad { transport?.load(of: users) ?? PoolLoad() }
    var openConnections: Int { connectionLog.open }
    var turns: Int { loop.turns }
    /// The most bytes that all transfers have moved in one turn of the loop.
    var mostBytesInATurn: Int { meter.most }
    func closeIdle() -> Int { transport?.closeIdleConnections() ?? 0 }

    func change(addresses: Set<String>) -> Int { transport?.localAddressesDidChange(to: addresses) ?? 0 }
    func change(families: AddressFamilies) { transport?.usableFamiliesDidChange(to: families) }

    /// Calls back once no connection is left open.
    func allConnectionsClosed() async {
        if connectionLog.open > 0 { await withCheckedContinuation { connectionLog.whenAllClosed = $0 } }
        // The transport updates its counts when the turn ends.
        await withCheckedContinuation { loop.afterTurn(TurnEnd($0)) }
    }

    /// Runs one request to its end. The preparation runs on the loop's thread, so that nothing happens in between.
    func fetch(_ ask: Ask, after preparation: @Sendable () -> Void = {}) async throws -> Outcome {
        guard let transport else { return Outcome() }
        preparation()
        let request = try makeRequest(ask)
        let recorder = Recorder(ask, meter, loop)
        recorders.append(recorder)
        return await withCheckedContinuation { continuation in
            recorder.continuation = continuation
            let transfer = transport.start(request, delegate: recorder)
            if ask.cancel == .beforeTurn { transfer.cancel() }
        }
    }

    /// Runs many at the same time.
    nonisolated func fetchAll(_ asks: [Ask]) async throws -> [Outcome] {
        try await withThrowingTaskGroup(of: (Int, Outcome).self) { group in
            for (index, ask) in asks.enumerated() { group.addTask { (index, try await self.fetch(ask)) } }
            var outcomes = [Outcome](repeating: Outcome(), count: asks.count)
            for try await (index, outcome) in group { outcomes[index] = outcome }
            return outcomes
        }
    }

    private func makeRequest(_ ask: Ask) throws -> TransportRequest {
        guard let method = HTTPMethod(ask.method) else { throw ChildProcess.Failure(description: "method") }
        var request = TransportRequest(method: method, url: try HTTPURL(ask.url))
        request.fields = try ask.fields.map { try HTTPField(name: $0.0, value: $0.1) }
        if let body = ask.body {
            request.body = ask.onHalf.map { .source(AnnouncedBody(body, willContinue: $0)) } ?? .bytes(body)
        }
        if let (path, offset, length) = ask.file {
            request.body = .file(BodyFile(try FileDescriptor.open(path, O_RDONLY)), offset: offset, length: length)
        }
        request.partition.trust = ask.trust
        request.partition.certificate = ask.certificate
        request.partition.user = ask.user
        request.httpVersion = ask.version
        request.idleTimeoutMilliseconds = ask.idle
        request.connectTimeoutMilliseconds = ask.connect
        request.resourceTimeoutMilliseconds = ask.resource
        request.decodesContent = ask.decodes
        request.maximumDecodingRatio = ask.ratio
        request.isLong = ask.isLong
        request.needsFreshConnection = ask.needsFreshConnection
        return request
    }
}

/// Records the events of one transfer.
final class Recorder: TransferDelegate {
    private let ask: Ask
    private let meter: TurnMeter
    private let loop: EventLoop
    private var outcome = Outcome()
    private var resumption: Timer?
    var continuation: CheckedContinuation<Outcome, Never>?

    init(_ ask: Ask, _ meter: TurnMeter, _ loop: EventLoop) {
        self.loop = loop
        self.ask = ask
        self.meter = meter
    }

    func transferDidStart(_ transfer: any TransportTask) {
        outcome.starts += 1
        if ask.cancel == .atStart { transfer.cancel() }
    }

    func transfer(_ transfer: any TransportTask, didReceive head: ResponseHead) {
        outcome.heads += 1
        outcome.status = head.status
        outcome.version = head.httpVersion
        head.fields.forEach { name, value in
            outcome.fields.append((String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
        }
        if ask.cancel == .atHead { transfer.cancel() }
    }

    func transfer(_ transfer: any TransportTask, didReceive bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        if ask.cancel == .atBody { transfer.cancel() }
        if ask.cancel == .whilePaused {
            transfer.cancel()
            return .pause
        }
        switch ask.disposition {
        case .accept: break
        case .stop: return .stop
        case .pauseForEver:
            outcome.pauses += 1
            return .pause
        case .pauseAt(let length):
            guard outcome.length + bytes.count >= length, outcome.pauses < 3 else { break }
            outcome.pauses += 1
            resumption = Timer { transfer.resume() }
            if let resumption { loop.arm(resumption, afterMilliseconds: 10) }
            return .pause
        case .pauseOnce:
            if outcome.pauses == 0 {
                outcome.pauses = 1
                transfer.resume()
                return .pause
            }
        }
        meter.add(bytes.count)
        outcome.length += bytes.count
        if ask.keepsBody { outcome.body.append(contentsOf: bytes) }
        return .accept
    }

    func transfer(_ transfer: any TransportTask, didSendBodyBytes count: Int) {
        meter.add(count)
        outcome.sentBodyBytes += count
    }

    func transferDidComplete(_ transfer: any TransportTask, _ completion: TransferCompletion) {
        outcome.completions += 1
        outcome.error = completion.error
        outcome.metrics = completion.metrics
        if ask.cancel == .afterEnd { transfer.cancel() }
        continuation?.resume(returning: outcome)
        continuation = nil
    }
}

/// Counts the bytes of bodies that each turn of the loop moves.
final class TurnMeter {
    private let loop: EventLoop
    private var turn = -1
    private var bytes = 0
    private(set) var most = 0

    init(_ loop: EventLoop) { self.loop = loop }

    func add(_ count: Int) {
        if turn != loop.turns { (turn, bytes) = (loop.turns, 0) }
        bytes += count
        most = max(most, bytes)
    }
}

/// Resumes when the loop's turn ends.
private final class TurnEnd: TurnObserver {
    private let continuation: CheckedContinuation<Void, Never>
    init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }
    func turnDidEnd() { continuation.resume() }
}

/// Counts the open connections.
private final class ConnectionLog: ConnectionObserver {
    var open = 0
    var whenAllClosed: CheckedContinuation<Void, Never>?

    func connectionDidOpen(_ id: Int, origin: Origin, user: UInt32?) { open += 1 }

    func connectionDidClose(_ id: Int, origin: Origin, user: UInt32?, transfers: Int) {
        open -= 1
        guard open == 0 else { return }
        whenAllClosed?.resume()
        whenAllClosed = nil
    }
}
