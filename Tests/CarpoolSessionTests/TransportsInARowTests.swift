import CarpoolHTTP
import CarpoolSession
import CarpoolSystem
import Testing

/// A session over a transport that passes its tasks on to another one, with and without libcurl.
struct TransportsInARowTests {
    private func delayed(_ transports: Int = 1) throws -> Stage {
        try Stage { transport, scheduler in
            (0..<transports).reduce(transport) { row, _ in DelayingTransport(row, scheduler, milliseconds: 100) }
        }
    }

    // MARK: Without libcurl

    @Test("A request goes through the row as it does without, only later", arguments: 1...3)
    func passesOn(_ transports: Int) throws {
        let stage = try delayed(transports)
        let request = stage.send()
        stage.scheduler.advance(milliseconds: 100 * transports - 1)
        #expect(stage.transport.transfers.isEmpty)
        #expect(stage.monitor.take() == beginning)
        stage.scheduler.advance(milliseconds: 1)
        #expect(stage.transport.transfers.count == 1)
        stage.transport.begin()
        stage.transport.respond(200, body: "hello")
        #expect(
            stage.monitor.take() == ["data.didReceiveResponse(200)", "data.didReceiveData(5)"] + metrics + [
                "task.didComplete(null)", "didCompleteTask(null)",
            ] + ending)
        #expect(request.text == "hello")
        #expect(request.error == nil && stage.session.taskCount == 0)
    }

    @Test("A task that is cancelled while it is delayed completes later, once, and is never started")
    func cancelWhileDelayed() throws {
        let stage = try delayed()
        let request = stage.send()
        request.cancel()
        #expect(!request.isFinished, "no event comes from inside cancel")
        stage.scheduler.advance(milliseconds: 0)
        #expect(request.isFinished && request.error?.name == "explicitly_cancelled")
        stage.scheduler.advance(milliseconds: 1_000)
        #expect(stage.transport.transfers.isEmpty && stage.session.taskCount == 0)
        #expect(stage.monitor.events.count { $0.hasPrefix("task.didComplete(") } == 1)
    }

    @Test("A task that is cancelled after the delay is cancelled in the whole row")
    func cancelAfterwards() throws {
        let stage = try delayed(2)
        let request = stage.send()
        stage.scheduler.advance(milliseconds: 200)
        request.cancel()
        #expect(stage.transport.cancelled == [1])
        stage.transport.completeCancelled()
        #expect(request.isFinished && stage.session.taskCount == 0)
    }

    @Test("A pause reaches the last transport, also one from before the start, and so does its end")
    func pauses() throws {
        let stage = try delayed()
        let request = stage.send()
        request.suspend()
        stage.scheduler.advance(milliseconds: 100)
        #expect(stage.transport.stopped == [1] && stage.transport.resumed.isEmpty)
        request.resume()
        #expect(stage.transport.resumed == [1])
        stage.transport.receive(200)
        request.suspend()
        #expect(stage.transport.stopped == [1, 1])
        #expect(stage.transport.receive([1, 2, 3]) == .pause)
        request.resume()
        #expect(stage.transport.receive([1, 2, 3]) == .accept)
        stage.transport.complete()
        #expect(request.isFinished && request.error == nil)
    }

    @Test("A priority reaches the last transport, also one that was set before the start")
    func priorities() throws {
        let stage = try delayed(2)
        let request = stage.send()
        request.setPriority(.high)
        stage.scheduler.advance(milliseconds: 200)
        #expect(stage.transport.transfers.last?.priority == .high)
        request.setPriority(.low)
        #expect(stage.transport.transfers.last?.priority == .low)
    }

    @Test("The progress of an upload is that of the last transport")
    func uploads() throws {
        let stage = try delayed()
        let request = stage.send {
            $0.method = .post
            $0.body = .bytes([1, 2, 3, 4])
            $0.kind = .upload
        }
        stage.scheduler.advance(milliseconds: 100)
        stage.transport.begin()
        stage.transport.send(4)
        stage.transport.respond(200)
        #expect(stage.monitor.events.contains("uploadProgress(4 of 4)"), "\(stage.monitor.events)")
        #expect(request.isFinished && request.error == nil)
    }

    // MARK: With libcurl

    @Test("Requests go through the row over a real connection, and share it")
    func realRequests() throws {
        let url = try Nginx.shared.get().url
        let row = try RealRow()
        for path in ["/text", "/text?again"] {
            let exchange = try row.run(url + path)
            #expect(exchange.error == nil && exchange.status == 200)
            #expect(exchange.started ?? 0 >= RealRow.milliseconds)
            #expect(String(decoding: exchange.body, as: UTF8.self) == "GET \(path) ")
            #expect(exchange.completions == 1 && exchange.metrics?.connection != nil)
        }
        #expect(row.row.statistics.openedConnections == 1 && row.row.statistics.finishedTransfers == 2)
        #expect(row.row.closeIdleConnections() == 1)
    }

    @Test(
        "A real task can be cancelled while it is delayed, when it starts, at the head and in the body",
        arguments: Exchange.Moment.allCases)
    func realCancel(_ moment: Exchange.Moment) throws {
        let row = try RealRow()
        let exchange = try row.run(Nginx.shared.get().url + "/large") { $0.cancels = moment }
        #expect(exchange.error?.code == .cancelled && exchange.completions == 1)
        #expect((exchange.started == nil) == (moment == .delayed))
        #expect((exchange.status == nil) == (moment == .delayed || moment == .start))
        #expect(exchange.body.count < 3_000_000)
    }

    @Test("A real task pauses before its start and within its body, whose pieces have at most 16 KiB")
    func realPause() throws {
        let row = try RealRow()
        let exchange = try row.run(Nginx.shared.get().url + "/large") { $0.pauses = true }
        #expect(exchange.error == nil && exchange.body.count == 3_000_000)
        #expect(exchange.largestPiece <= 16_384)
        #expect(exchange.pauseCount == 5)
        #expect(exchange.started ?? 0 >= RealRow.milliseconds + Exchange.pauseMilliseconds)
    }

    @Test("A real task takes a priority and sends its body")
    func realUpload() throws {
        let row = try RealRow()
        let exchange = try row.run(Nginx.shared.get().url + "/text", body: [UInt8](repeating: 0x61, count: 40_000)) {
            $0.priority = .low
        }
        #expect(exchange.error == nil && exchange.sentBytes == 40_000 && exchange.lastPosition == 40_000)
    }

    @Test("A session works over the row and a real connection")
    func realSession() throws {
        let row = try RealRow()
        let session = Session(
            name: "test", configuration: SessionConfiguration(), transport: row.row, scheduler: row.loop,
            spool: ScriptedSpool(), files: FileStore(work: InlineWork(), scheduler: row.loop),
            eventMonitor: RecordingMonitor())
        let request = session.request(RequestParameters(url: try Nginx.shared.get().url + "/moved"), id: "r_1")
        request.whenFinished { _ in row.loop.stop() }
        request.resume()
        row.loop.run()
        #expect(request.error == nil && request.response?.status == 200 && request.text == "GET /text ")
        #expect(request.attempts.first?.hops.count == 2)
    }
}

/// A delaying transport in front of libcurl, on a loop of its own.
private struct RealRow {
    static let milliseconds = 30
    let loop: EventLoop
    let row: DelayingTransport

    init() throws {
        loop = try EventLoop()
        row = DelayingTransport(try CurlTransport(loop: loop), loop, milliseconds: RealRow.milliseconds)
    }

    /// Runs one request to its end.
    func run(_ url: String, body: [UInt8]? = nil, _ change: (Exchange) -> Void = { _ in }) throws -> Exchange {
        var request = TransportRequest(method: body == nil ? .get : .post, url: try HTTPURL(url))
        if let body { request.body = .bytes(body) }
        let exchange = Exchange(loop)
        change(exchange)
        exchange.begin(row.start(request, delegate: exchange))
        loop.run()
        return exchange
    }
}

/// One request as its delegate sees it.
final class Exchange: TransferDelegate {
    enum Moment: CaseIterable, Sendable {
        case delayed, start, head, body
    }

    static let pauseMilliseconds = 60
    private let loop: EventLoop
    private let made = MonotonicTime.read()
    private var task: (any TransportTask)?
    private var timer: Timer?
    /// When to cancel it.
    var cancels: Moment?
    /// Whether it is paused before its start and at four pieces of its body.
    var pauses = false
    var priority: TransferPriority?

    /// Milliseconds until it was started.
    private(set) var started: Int?
    private(set) var status: Int?
    private(set) var body: [UInt8] = []
    private(set) var largestPiece = 0
    private(set) var sentBytes = 0
    private(set) var lastPosition: Int64 = 0
    private(set) var error: TransportError?
    private(set) var metrics: TransferMetrics?
    private(set) var completions = 0
    private(set) var pauseCount = 0

    init(_ loop: EventLoop) { self.loop = loop }

    func begin(_ task: any TransportTask) {
        self.task = task
        #expect(started == nil && completions == 0, "no event comes from inside start")
        if let priority { task.setPriority(priority) }
        if pauses { pause(for: Exchange.pauseMilliseconds + 30) }
        cancel(at: .delayed)
    }

    private func cancel(at moment: Moment) {
        guard cancels == moment else { return }
        task?.cancel()
        #expect(completions == 0, "no event comes from inside cancel")
    }

    private func pause(for milliseconds: Int) {
        pauseCount += 1
        task?.pause()
        let timer = Timer { [task] in task?.resume() }
        self.timer = timer
        loop.arm(timer, afterMilliseconds: milliseconds)
    }

    func transferDidStart(_ transfer: any TransportTask) {
        #expect(transfer === task)
        started = MonotonicTime.read().microseconds(since: made) / 1_000
        cancel(at: .start)
    }

    func transfer(_ transfer: any TransportTask, didReceive head: ResponseHead) {
        status = head.status
        cancel(at: .head)
    }

    func transfer(_ transfer: any TransportTask, didReceive bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        cancel(at: .body)
        if pauses, pauseCount < 5, body.count >= (pauseCount - 1) * 500_000 {
            pause(for: 10)
            return .pause
        }
        largestPiece = max(largestPiece, bytes.count)
        body.append(contentsOf: bytes)
        return .accept
    }

    func transfer(_ transfer: any TransportTask, didSendBodyBytes count: Int) {
        sentBytes += count
        lastPosition = transfer.bodyPosition
    }

    func transferDidComplete(_ transfer: any TransportTask, _ completion: TransferCompletion) {
        #expect(transfer === task)
        completions += 1
        error = completion.error
        metrics = completion.metrics
        // What came after it would be counted.
        loop.arm(Timer { [loop] in loop.stop() }, afterMilliseconds: 5)
    }
}
