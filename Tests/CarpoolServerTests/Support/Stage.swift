import CarpoolHTTP
import CarpoolJSON
import CarpoolRPC
@testable import CarpoolServer
@testable import CarpoolSession
import CarpoolSystem
import Testing

/// A server whose loop a test runs by hand, so that nothing happens between two lines of a test.
final class Stage {
    let folder = TemporaryFolder()
    let loop: EventLoop
    let server: Server
    private var lastID = 0

    convenience init(
        _ change: (inout ServerConfiguration) -> Void = { _ in }, _ set: (inout ServerOptions) -> Void = { _ in }
    )
        throws
    {
        try self.init(work: InlineWork(), change, set)
    }

    init(
        work: any BackgroundWork, _ change: (inout ServerConfiguration) -> Void = { _ in },
        _ set: (inout ServerOptions) -> Void = { _ in }
    ) throws {
        loop = try EventLoop()
        var configuration = ServerConfiguration()
        configuration.logLevel = .error
        change(&configuration)
        var options = ServerOptions(
            socketPath: folder("socket"), configurationPath: folder("config.json"), spoolDirectory: folder("spool"),
            supervisor: Supervisor.takeFromEnvironment())
        set(&options)
        server = try Server(
            loop: loop, options: options, configuration: configuration, log: Log(level: .error), work: work)
    }

    deinit {
        for entry in server.requests.registry.underWay { entry.request.cancel() }
        endTurn()
    }

    /// Lets the transport carry out what the turn has requested: cancelled transfers end here. A turn ends as many as
    /// its time allows, and at least one.
    func endTurn() {
        for _ in 0..<32 { server.transport.turnDidEnd() }
    }

    /// Runs the loop, for the last time, until a condition holds, which is checked in each turn.
    func run(until isDone: @escaping () -> Bool) {
        func look() {
            if isDone() { loop.stop() } else { loop.arm(Timer { look() }, afterMilliseconds: 0) }
        }
        look()
        loop.run()
    }

    /// Calls a method as a client does. Returns the number of the call; its answer may come later.
    @discardableResult func send(_ client: FakeClient, _ method: String, _ params: String = "{}", isCall: Bool = true)
        throws -> Int
    {
        client.publisher = server.publisher
        lastID += 1
        let id = isCall ? #""id":\#(lastID),"# : ""
        let text = #"{"jsonrpc":"2.0",\#(id)"method":"\#(method)","params":\#(params)}"#
        guard case .single(.request(let request)) = RPCInput.parse(Array(text.utf8)) else {
            throw ServerError("not a request: \(text)")
        }
        let isDuplicate = request.id.map { client.resources.calls[$0] != nil } ?? false
        let call = server.dispatcher.dispatch(
            request, from: client, batch: nil, underWay: client.resources.calls.count,
            limit: server.limits.callsPerConnection, isDuplicate: isDuplicate)
        if let id = call.id, !call.isAnswered { client.resources.calls[id] = call }
        return lastID
    }

    /// Calls a method that answers at once; returns its result.
    func call(_ client: FakeClient, _ method: String, _ params: String = "{}") throws -> JSON {
        let answer = try answer(client, method, params)
        return try #require(answer["result"], "\(answer["error"]?["message"]?.string ?? "")")
    }

    /// Calls a method; runs the loop until the answer has come, if it does not come at once.
    func answer(_ client: FakeClient, _ method: String, _ params: String = "{}") throws -> JSON {
        let id = try send(client, method, params)
        if client.answers["\(id)"] == nil { run { client.answers["\(id)"] != nil } }
        return try client.answer(id)
    }

    /// Calls a method that refuses at once; returns the error's `data`.
    func refusal(_ client: FakeClient, _ method: String, _ params: String = "{}") throws -> JSON {
        let answer = try client.answer(send(client, method, params))
        return try #require(answer["error"]?["data"], "it was not refused")
    }

    /// Submits a request that runs until it is ended.
    func submit(_ client: FakeClient, _ more: String = "", url: String = "http://127.0.0.1:1/") throws -> RequestEntry {
        let name = try call(client, "request.submit", #"{"url":"\#(url)"\#(more)}"#)["request"]?.string
        return try #require(server.requests.registry[name ?? ""])
    }

    /// Sets the response of a request, and ends it.
    func finish(_ entry: RequestEntry, body: [UInt8] = [], fields: [(String, String)] = []) throws {
        let request = entry.request
        try request.receive(body)
        request.response = .make(200, fields)
        request.finish()
    }
}

extension Request {
    /// Receives a piece of a body as if it had come from the network.
    func receive(_ bytes: [UInt8]) throws {
        guard !bytes.isEmpty else { return }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        try body.append(
            UnsafeRawBufferPointer(copy), memoryLimit: parameters.memoryLimitBytes, spool: session.spool, owner: self)
    }
}

extension ResponseHead {
    static func make(_ status: Int, _ fields: [(String, String)] = []) -> ResponseHead {
        make(status, lines: fields.map { Array("\($0.0): \($0.1)".utf8) })
    }

    static func make(_ status: Int, lines: [[UInt8]]) -> ResponseHead {
        var block = FieldBlock()
        for line in lines { _ = line.withUnsafeBytes { block.append(line: $0) } }
        return ResponseHead(status: status, httpVersion: "http/1.1", fields: block)
    }
}

extension Request {
    /// Finishes it in its state, as at the end of its transfer.
    func finish(because failure: SessionError? = nil) {
        if let failure { recordError(failure) }
        machine.finish()
        session.advance(self)
    }
}
