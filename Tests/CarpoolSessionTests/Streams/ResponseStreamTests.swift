import CarpoolHTTP
@testable import CarpoolSession
import Testing

/// The buffer between the origin and the readers of a stream: its bounds, and its back pressure.
struct ResponseStreamTests {
    private let memory = StreamMemory(streamBytes: 40_000, totalBytes: 100_000)

    private func send(_ stage: Stage) throws -> (request: Request, stream: ResponseStream) {
        let request = stage.send { $0.kind = .stream }
        return (request, try #require(request.stream))
    }

    private func stage() throws -> Stage { try Stage(streamMemory: memory) }

    /// All messages that a reader can receive, as text.
    private func read(_ reader: StreamReader) -> String {
        var text = ""
        while reader.deliver(to: { message in
            switch message.content {
            case .records(let records):
                for record in records {
                    if case .bytes(let bytes) = record { text += String(decoding: bytes, as: UTF8.self) }
                    if case .text(let line) = record { text += line + "|" }
                }
            case .failure(let error): text += "(\(error.name))"
            case .complete(let completion): text += "(\(completion.error?.name ?? "complete"))"
            }
        }) != .nothing {}
        return text
    }

    private func piece(_ count: Int) -> [UInt8] { Array(repeating: UInt8(ascii: "x"), count: count) }

    @Test("ST-01: the origin waits for the slowest reader, and continues when it has caught up")
    func backpressure() throws {
        let stage = try stage()
        let (_, stream) = try send(stage)
        let (fast, slow) = (stream.attach(.bytes, messageBytes: 45_000), stream.attach(.bytes, messageBytes: 45_000))
        fast.grant(.max)
        stage.transport.receive(200)
        for _ in 0..<4 {
            #expect(stage.transport.receive(piece(10_000)) == .accept)
            #expect(read(fast).count == 10_000)
        }
        #expect(stage.transport.receive(piece(10_000)) == .pause)
        slow.grant(15_000)
        #expect(read(slow).count == 15_000)
        #expect(stage.transport.resumed.isEmpty, "more than half is left")
        slow.grant(10_000)
        #expect(read(slow).count == 10_000)
        #expect(stage.transport.resumed == [1])
        #expect(stage.transport.receive(piece(10_000)) == .accept)
    }

    @Test("A stream without a reader fills its buffer and waits")
    func noReader() throws {
        let stage = try stage()
        let (_, stream) = try send(stage)
        stage.transport.receive(200)
        for _ in 0..<4 { #expect(stage.transport.receive(piece(10_000)) == .accept) }
        #expect(stage.transport.receive(piece(1)) == .pause)
        #expect(memory.bufferedBytes == 40_000)
        let reader = stream.attach(.bytes, messageBytes: 45_000)
        reader.grant(.max)
        #expect(read(reader).count == 40_000)
        #expect(memory.bufferedBytes == 0)
        #expect(stage.transport.resumed == [1])
    }

    @Test("When all streams hold too much, each holds little")
    func total() throws {
        let stage = try stage()
        memory.change(by: 100_000)
        let (_, stream) = try send(stage)
        stage.transport.receive(200)
        #expect(stage.transport.receive(piece(16_384)) == .accept)
        #expect(stage.transport.receive(piece(1)) == .pause)
        withExtendedLifetime(stream) {}
    }

    @Test("Held bytes are released with the request")
    func release() throws {
        do {
            let stage = try stage()
            let (_, stream) = try send(stage)
            stage.transport.receive(200)
            stage.transport.receive(piece(1_000))
            stage.transport.complete()
            #expect(stream.hasUnreadBytes)
        }
        #expect(memory.bufferedBytes == 0)
    }

    @Test("ST-04: the end waits until the reader has received everything", arguments: [nil, TransportError.lost])
    func end(_ error: TransportError?) throws {
        let stage = try stage()
        let (request, stream) = try send(stage)
        let reader = stream.attach(.lines, messageBytes: 45_000)
        stage.transport.receive(200)
        stage.transport.receive(Array("one\ntwo".utf8))
        stage.transport.complete(error)
        #expect(!request.isFinished)
        reader.grant(1)
        #expect(read(reader) == "one|")
        #expect(!request.isFinished)
        reader.grant(100)
        #expect(read(reader) == "two|(\(error.map { SessionError.sessionTaskFailed($0).name } ?? "complete"))")
        #expect(request.isFinished)
        #expect(request.body.count == 7)
    }

    @Test("The end does not wait for a pulling reader, which finds the rest after the request has finished")
    func pulling() throws {
        let stage = try stage()
        let (request, stream) = try send(stage)
        let reader = stream.attach(.bytes, messageBytes: 45_000, delaysEnd: false)
        stage.transport.receive(200)
        stage.transport.receive(piece(10))
        stage.transport.complete()
        #expect(request.isFinished)
        reader.grant(.max)
        #expect(read(reader) == "xxxxxxxxxx(complete)")
    }

    @Test("The stream does not wait for a reader that disconnects")
    func leaving() throws {
        let stage = try stage()
        let (request, stream) = try send(stage)
        var reader: StreamReader? = stream.attach(.bytes, messageBytes: 45_000)
        stage.transport.receive(200)
        stage.transport.receive(piece(10))
        stage.transport.complete()
        #expect(!request.isFinished)
        withExtendedLifetime(reader) {}
        reader = nil
        #expect(request.isFinished)
        let next = stream.attach(.bytes, messageBytes: 45_000)
        next.grant(.max)
        #expect(read(next) == "xxxxxxxxxx(complete)")
    }

    @Test("ST-06: a cancelled stream ends at once, and delivers nothing more")
    func cancel() throws {
        let stage = try stage()
        let (request, stream) = try send(stage)
        let reader = stream.attach(.bytes, messageBytes: 45_000)
        stage.transport.receive(200)
        stage.transport.receive(piece(10))
        request.cancel()
        stage.transport.complete(TransportError(.cancelled, "cancelled"))
        #expect(request.isFinished)
        reader.grant(.max)
        #expect(read(reader) == "(explicitly_cancelled)")
    }

    @Test("A cancelled request does not wait for its reader when its end has come already")
    func cancelAtTheEnd() throws {
        let stage = try stage()
        let (request, stream) = try send(stage)
        let reader = stream.attach(.bytes, messageBytes: 45_000)
        stage.transport.receive(200)
        stage.transport.receive(piece(10))
        stage.transport.complete()
        request.cancel()
        #expect(request.isFinished)
        #expect(read(reader) == "(explicitly_cancelled)")
    }

    @Test("ST-12: the next attempt starts from the beginning, with its own number")
    func retry() throws {
        let stage = try stage()
        let interceptor = ScriptedInterceptor()
        interceptor.decisions = [.retry]
        let request = stage.send {
            $0.kind = .stream
            $0.interceptor = Interceptor(interceptors: [interceptor])
        }
        let reader = try #require(request.stream).attach(.lines, messageBytes: 45_000)
        reader.grant(.max)
        var told: [String] = []
        reader.onReady = {
            while reader.deliver(to: { message in
                guard case .records(let records) = message.content else { return }
                told += records.map { "\(message.attempt): \($0)" }
            }) != .nothing {}
        }
        stage.transport.receive(200)
        stage.transport.receive(Array("one\nhalf".utf8))
        stage.transport.complete(.lost)
        stage.scheduler.advance(milliseconds: 1)
        stage.transport.receive(200)
        stage.transport.receive(Array("two\n".utf8))
        stage.transport.complete()
        #expect(told == ["1: text(\"one\")", "1: text(\"half\")", "2: text(\"two\")"])
        #expect(request.error == nil)
    }

    /// A stream with a policy that retries once, at the latest a second after the start, and a reader that has read
    /// what it can.
    private func retried(_ stage: Stage) throws -> (request: Request, reader: StreamReader) {
        var policy = RetryPolicy()
        policy.scaleMilliseconds = 1
        policy.maximumElapsedMilliseconds = 1_000
        policy.retriesWithoutValidation = true
        policy.limit = 1
        let request = stage.send {
            $0.kind = .stream
            $0.interceptor = PolicyRetrier(policy)
        }
        let reader = try #require(request.stream).attach(.lines, messageBytes: 45_000)
        reader.grant(.max)
        stage.transport.receive(503)
        stage.transport.receive(Array("busy\n".utf8))
        #expect(read(reader).isEmpty && memory.bufferedBytes == 5)
        return (request, reader)
    }

    @Test("ST-12: readers get nothing of a response that is retried for its status")
    func retriedStatus() throws {
        let stage = try stage()
        let (request, reader) = try retried(stage)
        stage.transport.complete()
        #expect(memory.bufferedBytes == 5)
        stage.scheduler.advance(milliseconds: 1)
        #expect(memory.bufferedBytes == 0)
        stage.transport.receive(503)
        stage.transport.receive(Array("again\n".utf8))
        stage.transport.complete()
        #expect(read(reader) == "again|(response_validation_failed.unacceptable_status_code)")
        #expect(request.retryCount == 1 && memory.bufferedBytes == 0)
    }

    @Test("ST-12: what was kept of a response is passed on if there is no time for the retry any more")
    func notRetriedAfterAll() throws {
        let stage = try stage()
        let (request, reader) = try retried(stage)
        stage.scheduler.advance(milliseconds: 1_000)
        stage.transport.complete()
        #expect(read(reader) == "busy|(response_validation_failed.unacceptable_status_code)")
        #expect(request.retryCount == 0 && request.body.count == 5 && memory.bufferedBytes == 0)
    }

    @Test("ST-12: a long body of a response that is retried ends the attempt")
    func longRetriedBody() throws {
        let stage = try stage()
        let (request, reader) = try retried(stage)
        while stage.transport.receive(piece(30_000)) == .accept, memory.bufferedBytes < 1_000_000 {}
        #expect(memory.bufferedBytes <= Session.discardLimitBytes)
        stage.transport.complete(TransportError(.cancelled, "stopped"))
        stage.scheduler.advance(milliseconds: 1)
        #expect(request.retryCount == 1 && read(reader).isEmpty && memory.bufferedBytes == 0)
    }

    @Test(
        "ST-12: no message has records of two attempts",
        arguments: ["data: x\r\n\r\n", "data: x\n\n: ping\n", "data: x\n\ndata: ha"])
    func attemptsApart(_ first: String) throws {
        let stage = try stage()
        let interceptor = ScriptedInterceptor()
        interceptor.decisions = [.retry]
        let request = stage.send {
            $0.kind = .stream
            $0.interceptor = Interceptor(interceptors: [interceptor])
        }
        let reader = try #require(request.stream).attach(.events, messageBytes: 45_000, delaysEnd: false)
        stage.transport.receive(200)
        stage.transport.receive(Array(first.utf8))
        stage.transport.complete(.lost)
        stage.scheduler.advance(milliseconds: 1)
        stage.transport.receive(200)
        stage.transport.receive(Array("data: y\n\n".utf8))
        stage.transport.complete()
        reader.grant(.max)
        var attempts: [Int] = []
        while reader.deliver(to: { message in
            guard case .records(let records) = message.content else { return }
            attempts += records.map { _ in message.attempt }
        }) != .nothing {}
        #expect(attempts == [1, 2])
    }

    @Test("Bytes that make no record are dropped", arguments: [StreamSerializer.events, .jsonLines, .lines])
    func nothingOfUse(_ serializer: StreamSerializer) throws {
        let stage = try stage()
        let (_, stream) = try send(stage)
        let reader = stream.attach(serializer, messageBytes: 1_024)
        reader.grant(.max)
        reader.onReady = { while reader.deliver(to: { _ in }) != .nothing {} }
        stage.transport.receive(200)
        let text = serializer == .events ? ": ping\n\n" : serializer == .jsonLines ? "\n" : "x"
        let piece = Array(String(repeating: text, count: 10_000 / text.utf8.count).utf8)
        for _ in 0..<20 { #expect(stage.transport.receive(piece) == .accept) }
        #expect(memory.bufferedBytes <= 1_025)
    }

    @Test("B2: however short the records are, one call makes a bounded number of them")
    func tinyRecords() throws {
        let stage = try stage()
        let (_, stream) = try send(stage)
        let reader = stream.attach(.lines, messageBytes: 45_000)
        reader.grant(.max)
        stage.transport.receive(200)
        stage.transport.receive([UInt8](repeating: UInt8(ascii: "\n"), count: 2_500))
        var counts: [Int] = []
        while reader.deliver(to: { message in
            if case .records(let records) = message.content { counts.append(records.count) }
        }) == .message {}
        #expect(counts == [1_024, 1_024, 452])
    }

    @Test(
        "B2: bytes that make no record are read in parts, and the record behind them is found",
        arguments: [StreamSerializer.events, .jsonLines])
    func nothingInParts(_ serializer: StreamSerializer) throws {
        let stage = try stage()
        let (request, stream) = try send(stage)
        let reader = stream.attach(serializer, messageBytes: 45_000)
        reader.grant(.max)
        stage.transport.receive(200)
        let last = serializer == .events ? "data: 1\n\n" : "1\n"
        stage.transport.receive([UInt8](repeating: UInt8(ascii: "\n"), count: 2_500) + Array(last.utf8))
        stage.transport.complete()
        var steps: [StreamReader.Step] = []
        repeat { steps.append(reader.deliver { _ in }) } while steps.last != .nothing
        #expect(steps == [.unfinished, .unfinished, .message, .message, .nothing])
        #expect(reader.isOver && request.isFinished && memory.bufferedBytes == 0)
    }

    @Test("B2: a crowd of readers advances in any order, and the slowest decides")
    func crowd() throws {
        let stage = try stage()
        let (request, stream) = try send(stage)
        var readers = (0..<100).map { _ in stream.attach(.bytes, messageBytes: 45_000) }
        stage.transport.receive(200)
        stage.transport.receive(piece(40_000))
        #expect(stage.transport.receive(piece(1)) == .pause)
        for reader in readers { reader.grant(30_000) }
        for (index, reader) in (readers[50...] + readers[..<50].reversed()).enumerated() {
            #expect(stage.transport.resumed.isEmpty && memory.bufferedBytes == 40_000, "reader \(index)")
            #expect(read(reader).count == 30_000)
        }
        #expect(stage.transport.resumed == [1])
        #expect(memory.bufferedBytes == 10_000)
        stage.transport.complete()
        for reader in readers.dropLast(30) {
            reader.grant(10_000)
            #expect(read(reader).count == 10_000)
        }
        #expect(!request.isFinished)
        readers.removeLast(30)
        #expect(request.isFinished && memory.bufferedBytes == 0)
        for reader in readers { #expect(read(reader) == "(complete)") }
    }

    @Test("Credit is exact for pieces, and one record may exceed it")
    func credit() throws {
        let stage = try stage()
        let (_, stream) = try send(stage)
        let (pieces, lines) = (stream.attach(.bytes, messageBytes: 45_000), stream.attach(.lines, messageBytes: 45_000))
        stage.transport.receive(200)
        stage.transport.receive(Array("first\nsecond\nthird\n".utf8))
        pieces.grant(8)
        #expect(read(pieces) == "first\nse")
        lines.grant(7)
        #expect(read(lines) == "first|second|")
        lines.grant(6)
        #expect(read(lines).isEmpty, "its credit is below zero by six")
        lines.grant(1)
        #expect(read(lines) == "third|")
    }
}

extension TransportError {
    fileprivate static let lost = TransportError(.networkConnectionLost, "lost")
}
